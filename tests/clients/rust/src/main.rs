//! Logs in with the kubeconfig of each context, and prints who the server says that is.

use k8s_openapi::api::authentication::v1::SelfSubjectReview;
use kube::api::{Api, PostParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let file = words.next().ok_or("a kubeconfig is needed")?;
    for context in words {
        let options = KubeConfigOptions {
            context: Some(context.clone()),
            ..Default::default()
        };
        let config = Config::from_custom_kubeconfig(Kubeconfig::read_from(&file)?, &options).await?;
        let reviews: Api<SelfSubjectReview> = Api::all(Client::try_from(config)?);
        match reviews.create(&PostParams::default(), &SelfSubjectReview::default()).await {
            Ok(review) => {
                let user = review.status.and_then(|status| status.user_info).unwrap_or_default();
                let mut groups = user.groups.unwrap_or_default();
                groups.sort();
                println!("{context}: {} {}", user.username.unwrap_or_default(), groups.join(","));
            }
            Err(kube::Error::Api(status)) => println!("{context}: {}", status.code),
            Err(error) => println!("{context}: {error}"),
        }
    }
    Ok(())
}
