import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb'
import { Fault } from '../../shared/errors.ts'
import type { KeyRef } from '../../shared/ports/secrets.ts'
import type { RunStore } from '../../shared/runs/run-store.ts'
import type { Settings } from '../../shared/settings/settings.ts'
import type { Slack } from '../../shared/slack/slack-port.ts'
import { callSlackOnce } from '../slack/client/call-once.ts'
import { openSlack } from '../slack/client/open-slack.ts'
import {
  type Core,
  createIds,
  createLog,
  environment,
  type FunctionEnvironment,
  lambdaClock,
  requiredVariable,
} from './core.ts'
import type { EntryParts, LambdaHandler } from './entry.ts'
import { openInvocation, proxyAnswer, type RouteAnswer } from './invocation.ts'
import { openTable } from './run-store/table.ts'
import { notedRequestsOn } from './run-store/tenant-items.ts'
import { CLIENT_OPTIONS } from './sdk.ts'
import { assembleWorld } from './world.ts'

/**
 * The entry of the function that answers Slack, where somebody waits for a cold start, three seconds at the most: as
 * entry.ts, without what checks settings and environment. Both were checked when the deployment was made, and nobody is
 * authenticated but by a signature.
 */
export function slackEntry({ handler, ...parts }: EntryParts, env: NodeJS.ProcessEnv = environment): LambdaHandler {
  const world = assembleWorld(openCore(parts, env), parts)
  return async (event, context) => {
    const invocation = openInvocation(world, event, context, undefined)
    try {
      // A route answers this shape and never throws.
      return proxyAnswer((await handler(invocation.event, invocation.context)) as RouteAnswer)
    } finally {
      invocation.end()
    }
  }
}

function openCore({ name, ports, settings }: Omit<EntryParts, 'handler'>, env: NodeJS.ProcessEnv): Core {
  const read = readFew(env)
  const secrets = ports.secrets?.({ clock: lambdaClock })
  return {
    env: read,
    deployed: {},
    ...(secrets === undefined ? {} : { secrets }),
    // Written into the bundle by infra/aws/bundle.ts as SettingsSchema made them.
    settings: settings as Settings,
    clock: lambdaClock,
    ids: createIds(),
    log: createLog({ level: read.SLUICE_LOG, facts: { stage: read.STAGE, function: name } }),
  }
}

/** The values its ports ask for; one that is missing is told by name when it is needed. */
function readFew(env: NodeJS.ProcessEnv): FunctionEnvironment {
  return {
    STAGE: env.STAGE ?? '',
    AWS_REGION: env.AWS_REGION ?? '',
    TABLE: env.TABLE,
    SLUICE_LOG: env.SLUICE_LOG === 'error' ? 'error' : 'info',
    functions: env.SLACK_WORK_ARN === undefined ? {} : { 'slack-work': env.SLACK_WORK_ARN },
  }
}

/** The Slack port of the function that answers clicks: small, since somebody waits for its cold start (docs/adr/dependencies.md). */
export function openSlackForClicks(core: Pick<Core, 'settings' | 'secrets'>): Slack | undefined {
  const { slack } = core.settings
  return slack === undefined ? undefined : openSlack(slack, slackKeys(core), callSlackOnce)
}

/** Reads the token or a signing secret where AWS keeps it. Fault InvalidInput slack_key_missing. */
export function slackKeys({ secrets }: Pick<Core, 'secrets'>): (ref: KeyRef) => Promise<string> {
  return async ({ secret }) => {
    if (secret !== undefined && secrets !== undefined) return secrets.read({ secret })
    const message =
      'Cannot reach Slack: on AWS its token and signing secret are read from Secrets Manager or Systems Manager. Add secret: ARN to slack.token and slack.signing_secret in sluice.yaml and deploy again.'
    throw new Fault('InvalidInput', 'slack_key_missing', message)
  }
}

/** Two tries fit into the second that an answer to Slack may take. */
const REQUEST_MS = 700

/** As much of the RunStore port as the function that answers Slack uses: its bundle carries no more. */
export function openNotedRequests(
  { env, clock, ids }: Pick<Core, 'env' | 'clock' | 'ids'>,
  config: DynamoDBClientConfig = {},
): RunStore {
  const requestHandler = { ...CLIENT_OPTIONS.requestHandler, connectionTimeout: REQUEST_MS, requestTimeout: REQUEST_MS }
  const client = new DynamoDBClient({ ...CLIENT_OPTIONS, requestHandler, ...config })
  // A test holds the function's code to these methods (infra/aws/grants.ts gives it no other right).
  return notedRequestsOn(openTable({ client, table: requiredVariable(env, 'TABLE'), clock, ids })) as RunStore
}
