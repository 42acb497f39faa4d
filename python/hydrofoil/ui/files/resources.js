// The resources that a server has, by discovery.

import { getJson } from "./api.js";

const AGGREGATED = ["v2", "v2beta1"]
  .map((version) => `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`)
  .join(",");
let known = [];

/** Return the resources that can be listed, each once, in the version that the server prefers. Throw ApiError. */
export async function discover() {
  const documents = await Promise.all([getJson("/api", AGGREGATED), getJson("/apis", AGGREGATED)]);
  const found = new Map();
  for (const group of documents.flatMap((document) => document.items ?? [])) {
    const name = group.metadata?.name ?? "";
    for (const { version, resources } of group.versions ?? []) {
      for (const { resource, responseKind, scope, verbs, shortNames } of resources ?? []) {
        const fullName = name ? `${resource}.${name}` : resource;
        if (!verbs.includes("list") || found.has(fullName)) continue;
        found.set(fullName, {
          group: name, version, resource, fullName, kind: responseKind?.kind ?? resource,
          namespaced: scope === "Namespaced", watched: verbs.includes("watch"), shortNames: shortNames ?? [],
          root: name ? `/apis/${name}/${version}` : `/api/${version}`,
        });
      }
    }
  }
  known = [...found.values()];
  return known;
}

/** Return a resource by its name in an address, such as `pods` or `deployments.apps`; undefined without one. */
export async function find(name) {
  const look = () => known.find((one) => one.fullName === name)
    ?? known.find((one) => one.resource === name || one.shortNames.includes(name));
  const found = look();
  if (found) return found;
  await discover();
  return look();
}

/** Return the path of a collection, or of an object in it. */
export function pathOf(resource, namespace = "", name = "") {
  const within = namespace ? `/namespaces/${encodeURIComponent(namespace)}` : "";
  return `${resource.root}${within}/${resource.resource}${name ? `/${encodeURIComponent(name)}` : ""}`;
}

/** Return the address on this page of a resource, a namespace in it, or an object. */
export function linkTo(fullName, namespace = "", name = "") {
  return `#/${[fullName, namespace, name].filter(Boolean).map(encodeURIComponent).join("/")}`;
}
