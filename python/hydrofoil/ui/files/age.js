// Ages, which the server writes once, and which go on while a page is open.

const UNITS = { s: 1, m: 60, h: 3600, d: 86_400, y: 31_536_000 };

/** Return the seconds of an age such as `5m30s`; NaN for another text. */
export function parseAge(text) {
  if (!/^(\d+[smhdy])+$/.test(text)) return NaN;
  let seconds = 0;
  for (const [, number, unit] of text.matchAll(/(\d+)([smhdy])/g)) seconds += Number(number) * UNITS[unit];
  return seconds;
}

/** Return a number of seconds as the server writes ages (apimachinery `duration.HumanDuration`). */
export function formatAge(seconds) {
  const whole = Math.max(Math.floor(seconds), 0);
  const pair = (large, small) => {
    const high = Math.floor(whole / UNITS[large]);
    const low = Math.floor((whole % UNITS[large]) / UNITS[small]);
    return low ? `${high}${large}${low}${small}` : `${high}${large}`;
  };
  if (whole < 120) return `${whole}s`;
  if (whole < 600) return pair("m", "s");
  if (whole < 3 * UNITS.h) return `${Math.floor(whole / 60)}m`;
  if (whole < 8 * UNITS.h) return pair("h", "m");
  if (whole < 48 * UNITS.h) return `${Math.floor(whole / UNITS.h)}h`;
  if (whole < 8 * UNITS.d) return pair("d", "h");
  if (whole < 2 * UNITS.y) return `${Math.floor(whole / UNITS.d)}d`;
  if (whole < 8 * UNITS.y) return pair("y", "d");
  return `${Math.floor(whole / UNITS.y)}y`;
}
