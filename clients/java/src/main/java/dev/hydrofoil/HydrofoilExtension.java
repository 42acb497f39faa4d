package dev.hydrofoil;

import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * Give every test of a class a clean server: {@code @ExtendWith(HydrofoilExtension.class)} and a parameter of type {@link
 * Hydrofoil}; or, with flags, {@code @RegisterExtension static final HydrofoilExtension server = new
 * HydrofoilExtension("--history-window=5s")}.
 */
public final class HydrofoilExtension implements BeforeEachCallback, AfterAllCallback, ParameterResolver {
  private final String[] flags;
  private Hydrofoil server;

  /** Serve with the default flags. */
  public HydrofoilExtension() {
    this(new String[0]);
  }

  /** Serve with flags of {@code hydrofoil serve}. */
  public HydrofoilExtension(String... flags) {
    this.flags = flags.clone();
  }

  /** Return the server; the first call starts it. */
  public synchronized Hydrofoil server() {
    if (server == null) {
      server = Hydrofoil.start(flags);
    }
    return server;
  }

  @Override
  public void beforeEach(ExtensionContext context) {
    server().reset();
  }

  @Override
  public synchronized void afterAll(ExtensionContext context) {
    if (server != null) {
      server.close();
      server = null;
    }
  }

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    return parameter.getParameter().getType() == Hydrofoil.class;
  }

  @Override
  public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
    return server();
  }
}
