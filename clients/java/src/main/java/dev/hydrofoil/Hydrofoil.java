package dev.hydrofoil;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** A Kubernetes API server for tests: it is reset, broken on purpose, and shows its requests. */
public final class Hydrofoil implements AutoCloseable {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final HttpClient HTTP = HttpClient.newHttpClient();
  private static final List<String> SUFFIXES = List.of(".yaml", ".yml", ".json");
  private static final String RULE = "a text is a manifest if it has a line break or ': ', or begins with '{' or '['";

  private final Process process;
  private final Path folder;
  private final String url;

  private Hydrofoil(Process process, Path folder, String url) {
    this.process = process;
    this.folder = folder;
    this.url = url;
  }

  /** Start a server with flags of {@code hydrofoil serve}; the variable HYDROFOIL names the command. */
  public static Hydrofoil start(String... flags) {
    String named = System.getenv().getOrDefault("HYDROFOIL", "hydrofoil");
    List<String> line = new ArrayList<>(List.of(named.trim().split("\\s+")));
    try {
      Path folder = Files.createTempDirectory("hydrofoil");
      line.addAll(List.of("serve", "--port=0", "--test-controls", "--kubeconfig=" + folder.resolve("kubeconfig")));
      line.addAll(List.of(flags));
      Process process = new ProcessBuilder(line).redirectError(ProcessBuilder.Redirect.INHERIT).start();
      Runtime.getRuntime().addShutdownHook(new Thread(process::destroy));
      BufferedReader lines =
          new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
      for (String text = lines.readLine(); text != null; text = lines.readLine()) {
        if (text.startsWith("serving on ")) {
          return new Hydrofoil(process, folder, text.substring("serving on ".length()));
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException("hydrofoil does not start (HYDROFOIL names the command)", e);
    }
    throw new IllegalStateException("hydrofoil has not started");
  }

  /** Return the address: {@code http://127.0.0.1:PORT}. */
  public String url() {
    return url;
  }

  /** Return the path of the administrator's kubeconfig. */
  public Path kubeconfig() {
    return folder.resolve("kubeconfig");
  }

  /** Return to the state at readiness, without faults and requests. */
  public void reset() {
    call("POST", "/reset", "");
  }

  /** Break all connections and end the history, as clients see it of a restart; address, objects and users stay. */
  public void restart() {
    call("POST", "/restart", "");
  }

  /** Return the id of the present state. */
  public String snapshot() {
    return call("POST", "/snapshots", "").get("id").asText();
  }

  /** Return to a snapshot; watches receive the differences as events. Return their number. */
  public int restore(String id) {
    return call("POST", "/snapshots/" + id + "/restore", "").get("changed").asInt();
  }

  /** Stop the clock at a moment. */
  public void freeze(Instant at) {
    call("PUT", "/clock", encoded(Map.of("now", at.toString(), "frozen", true)));
  }

  /** Move the clock forward. */
  public void advance(Duration by) {
    call("POST", "/clock/advance", encoded(Map.of("duration", by.toMillis() + "ms")));
  }

  /** Add a fault: an action, and its match and parameters. Return its id. */
  public String addFault(String action, Map<String, ?> given) {
    Map<String, Object> body = new HashMap<>(given);
    body.put("action", action);
    return call("POST", "/faults", encoded(body)).get("id").asText();
  }

  /** Return a fault with its present counts {@code seen} and {@code hits}. */
  public JsonNode fault(String id) {
    return call("GET", "/faults/" + id, "");
  }

  /** Remove all faults. */
  public void clearFaults() {
    call("DELETE", "/faults", "");
  }

  /** Return the requests that a query such as {@code verb=list&params.limit=} selects. */
  public List<JsonNode> requests(String query) {
    List<JsonNode> found = new ArrayList<>();
    call("GET", "/requests?" + query, "").get("items").forEach(found::add);
    return found;
  }

  /**
   * Apply objects in YAML or JSON. A text with a line break or {@code ": "}, or that begins with <code>{</code> or {@code [},
   * is a manifest; any other is the path of a file or a folder, which begins at the working folder.
   */
  public void apply(String manifests) {
    if (isManifest(manifests)) {
      call("POST", "/apply", manifests);
    } else {
      apply(Path.of(manifests));
    }
  }

  /** Apply the objects of a file, or of all files in a folder and below it. */
  public void apply(Path path) {
    if (!Files.exists(path)) {
      throw new IllegalArgumentException("\"" + path + "\" is no file or folder, and no manifest (" + RULE + ")");
    }
    List<String> texts = new ArrayList<>();
    try (Stream<Path> found = Files.walk(path)) {
      for (Path file : found.sorted().filter(each -> each.equals(path) || hasSuffix(each)).toList()) {
        if (Files.isRegularFile(file)) {
          texts.add(Files.readString(file));
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    call("POST", "/apply?origin=" + escaped(path.toString()), String.join("\n---\n", texts));
  }

  private static boolean isManifest(String text) {
    String begin = text.stripLeading();
    return text.contains("\n") || text.contains(": ") || begin.startsWith("{") || begin.startsWith("[");
  }

  private static boolean hasSuffix(Path path) {
    return SUFFIXES.stream().anyMatch(path.getFileName().toString()::endsWith);
  }

  /** Return an object such as {@code deployments.apps/web} once it meets a condition. */
  public JsonNode waitFor(String object, String condition, String namespace, Duration timeout) {
    Map<String, Object> body =
        Map.of(
            "object", object, "condition", condition, "namespace", namespace, "timeout", timeout.toMillis() / 1000.0);
    return call("POST", "/wait", encoded(body));
  }

  /** Return an object such as {@code deployments.apps/web}. */
  public JsonNode get(String object, String namespace) {
    return call("GET", "/object?object=" + escaped(object) + "&namespace=" + escaped(namespace), "");
  }

  /** Set members of the status of an object, as its controller would; null removes one. Return the object. */
  public JsonNode setStatus(String object, Map<String, ?> status, String namespace) {
    return call("PUT", "/status", encoded(Map.of("object", object, "status", status, "namespace", namespace)));
  }

  private static String escaped(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8);
  }

  /** Return the credentials of a user that has no rights but those of roles: headers and kubeconfig. */
  public JsonNode user(String name, String... groups) {
    return call("POST", "/users", encoded(Map.of("name", name, "groups", groups)));
  }

  /** End the server. */
  @Override
  public void close() {
    process.destroy();
    try {
      process.waitFor();
      Files.deleteIfExists(kubeconfig());
      Files.deleteIfExists(folder);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private JsonNode call(String method, String path, String body) {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(url + "/hydrofoil/v1" + path))
            .method(method, HttpRequest.BodyPublishers.ofString(body))
            .build();
    try {
      HttpResponse<String> answer = HTTP.send(request, HttpResponse.BodyHandlers.ofString());
      JsonNode found = answer.body().isEmpty() ? JSON.nullNode() : JSON.readTree(answer.body());
      if (answer.statusCode() >= 400) {
        throw new AssertionError(method + " " + path + ": " + found.path("message").asText());
      }
      return found;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  private static String encoded(Object value) {
    try {
      return JSON.writeValueAsString(value);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
