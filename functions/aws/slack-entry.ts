import { namedProxy } from '../../shared/egress/proxy.ts'
import type { Settings } from '../../shared/settings/settings.ts'
import { useEgress } from '../egress/egress.ts'
import { type Core, createIds, createLog, environment, type FunctionEnvironment, lambdaClock } from './core.ts'
import type { EntryParts, LambdaHandler } from './entry.ts'
import { openInvocation, proxyAnswer, type RouteAnswer } from './invocation.ts'
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
  // Written into the bundle by infra/aws/bundle.ts as SettingsSchema made them.
  const checked = settings as Settings
  useEgress(checked.egress, namedProxy(checked.egress))
  return {
    env: read,
    deployed: {},
    gates: {},
    ...(secrets === undefined ? {} : { secrets }),
    settings: checked,
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
