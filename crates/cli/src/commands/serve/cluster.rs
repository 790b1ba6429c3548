//! `serve --state`: the gateway joins others that share their state.

use mcparley_door::DoorListener;
use mcparley_gateway::{ClusterOptions, Seal};

use crate::args::DoorArgs;
use crate::context::Context;
use crate::error::{CommandError, DoorSetupError};

/// Joins the cluster, if there is one.
#[cfg(feature = "redis")]
pub(super) async fn join_cluster(
    args: &DoorArgs,
    context: &Context,
    listeners: &[DoorListener],
) -> Result<Option<ClusterOptions>, CommandError> {
    use mcparley_cluster::{ClusterMember, KeyNames, RedisStore, StoreAddress};

    let address = match (&args.state, context.run_options.env.get("MCPARLEY_STATE")) {
        (Some(address), _) => address.clone(),
        (None, Some(text)) => StoreAddress::parse(text).map_err(DoorSetupError::StateAddress)?,
        (None, None) => return Ok(None),
    };
    let store = RedisStore::connect(&address).map_err(DoorSetupError::StateAddress)?;
    let name = args.gateway_name.clone().unwrap_or_else(|| gateway_name(context, listeners));
    let joined =
        ClusterMember::join(std::sync::Arc::new(store), KeyNames::new(&args.state_name), &name).await;
    let (member, mailbox) =
        joined.map_err(|source| DoorSetupError::State { address: address.to_string(), source })?;
    Ok(Some(ClusterOptions { member, mailbox, is_required: args.state_required }))
}

/// Refuses `--state`: this program was built without Redis.
#[cfg(not(feature = "redis"))]
pub(super) async fn join_cluster(
    args: &DoorArgs,
    context: &Context,
    _listeners: &[DoorListener],
) -> Result<Option<ClusterOptions>, CommandError> {
    match args.state.is_some() || context.run_options.env.get("MCPARLEY_STATE").is_some() {
        true => Err(DoorSetupError::NoState.into()),
        false => Ok(None),
    }
}

/// The seal of ids: with the key of a file, that of the cluster, or that of this user.
pub(super) async fn open_seal(
    args: &DoorArgs,
    context: &Context,
    cluster: Option<&ClusterOptions>,
) -> Result<Seal, CommandError> {
    let seal = match (&args.state_key_file, cluster) {
        (Some(file), _) => Seal::from_file(file),
        (None, Some(cluster)) => Seal::from_cluster(&cluster.member).await,
        (None, None) => Seal::from_file(&context.gateway_path("seal.key")),
    };
    Ok(seal.map_err(DoorSetupError::Seal)?)
}

/// Whether the gateway shares its state with others.
pub(super) fn has_shared_state(args: &DoorArgs, context: &Context) -> bool {
    args.is_used() && (args.state.is_some() || context.run_options.env.get("MCPARLEY_STATE").is_some())
}

/// The name by which messages mention this gateway: its host, and where it listens. In a container that address is the
/// same for all gateways.
#[cfg(feature = "redis")]
fn gateway_name(context: &Context, listeners: &[DoorListener]) -> String {
    let address = listeners.iter().find_map(DoorListener::address).map(|address| address.to_string());
    let socket = || listeners.iter().find_map(DoorListener::socket_path);
    let place = address.or_else(|| Some(socket()?.display().to_string())).unwrap_or_default();
    let env = &context.run_options.env;
    match env.get("HOSTNAME").or_else(|| env.get("COMPUTERNAME")).filter(|host| !host.is_empty()) {
        Some(host) => format!("{host} at {place}"),
        None => place,
    }
}
