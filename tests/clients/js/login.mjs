// Logs in with the kubeconfig of each context, and prints who the server says that is.
import { AuthenticationV1Api, KubeConfig } from "@kubernetes/client-node";

for (const context of process.argv.slice(3)) {
  const config = new KubeConfig();
  config.loadFromFile(process.argv[2]);
  config.setCurrentContext(context);
  try {
    const review = await config.makeApiClient(AuthenticationV1Api).createSelfSubjectReview({ body: {} });
    const { username, groups } = review.status.userInfo;
    console.log(`${context}: ${username} ${groups.sort().join(",")}`);
  } catch (error) {
    console.log(`${context}: ${error.code ?? error}`);
  }
}
