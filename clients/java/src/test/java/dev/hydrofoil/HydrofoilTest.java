package dev.hydrofoil;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

@ExtendWith(HydrofoilExtension.class)
class HydrofoilTest {
  private static final String MAPS = "/api/v1/namespaces/default/configmaps";
  private static final String MAP = "{apiVersion: v1, kind: ConfigMap, metadata: {name: %s}}";

  private static int status(Hydrofoil server, String path) throws IOException, InterruptedException {
    HttpRequest request = HttpRequest.newBuilder(URI.create(server.url() + path)).build();
    return HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.discarding()).statusCode();
  }

  @Test
  void objectsComeAndGo(Hydrofoil server) throws Exception {
    String before = server.snapshot();
    server.apply(MAP.formatted("a"));
    JsonNode found = server.waitFor("configmaps/a", "exists", "default", Duration.ofSeconds(10));
    assertEquals("ConfigMap", found.get("kind").asText());
    assertEquals(200, status(server, MAPS + "/a"));
    assertEquals(1, server.restore(before));
    server.restart();
    assertEquals(404, status(server, MAPS + "/a"));
  }

  @Test
  void statusIsSetAsByAController(Hydrofoil server) {
    server.apply("{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, image: i}]}}");
    server.setStatus("pods/p", Map.of("phase", "Running"), "default");
    assertEquals("Running", server.get("pods/p", "default").at("/status/phase").asText());
  }

  @Test
  void everyTestBeginsAnew(Hydrofoil server) throws Exception {
    assertEquals(List.of(), server.requests("verb=create"));
    assertEquals(404, status(server, MAPS + "/a"));
    assertTrue(Files.readString(server.kubeconfig()).contains(server.url()));
  }

  @Test
  void aFaultActsAsOftenAsTold(Hydrofoil server) throws Exception {
    String fault = server.addFault("status", Map.of("code", 503, "verb", "list", "times", 1));
    assertEquals(503, status(server, MAPS));
    assertEquals(200, status(server, MAPS));
    assertEquals(1, server.fault(fault).get("hits").asInt());
    assertEquals(MAPS, server.requests("verb=list&code=503").get(0).get("path").asText());
    server.clearFaults();
  }

  @Test
  void timeIsInTheTestsHand(Hydrofoil server) {
    server.freeze(Instant.parse("2026-01-01T00:00:00Z"));
    server.advance(Duration.ofHours(25));
    server.apply(MAP.formatted("b"));
    JsonNode made = server.waitFor("configmaps/b", "exists", "default", Duration.ofSeconds(1));
    assertEquals("2026-01-02T01:00:00Z", made.at("/metadata/creationTimestamp").asText());
  }

  @Test
  void anErrorSaysWhatWasWrong(Hydrofoil server) {
    AssertionError error = assertThrows(AssertionError.class, () -> server.addFault("nothing", Map.of()));
    assertTrue(error.getMessage().contains("nothing"), error.getMessage());
    assertTrue(server.user("bob", "dev").at("/headers/Authorization").asText().startsWith("Bearer "));
  }

  @Test
  void aTextIsAManifestOrAPathByItsForm(Hydrofoil server, @TempDir Path folder) throws Exception {
    Files.createDirectory(folder.resolve("b"));
    Files.writeString(folder.resolve("a.yaml"), "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n");
    Files.writeString(
        folder.resolve("b/b.json"), "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"b\"}}");
    Files.writeString(folder.resolve("notes.txt"), "no manifest");
    server.apply(folder.toString());
    server.apply(folder.resolve("a.yaml"));
    server.apply("[{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"c\"}}]");
    for (String name : List.of("a", "b", "c")) {
      assertEquals(200, status(server, MAPS + "/" + name));
    }
    Exception error = assertThrows(IllegalArgumentException.class, () -> server.apply("nowhere.yaml"));
    assertTrue(error.getMessage().contains("is no file or folder, and no manifest"), error.getMessage());
  }
}
