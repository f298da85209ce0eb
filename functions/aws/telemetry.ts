import { Fault } from '../../shared/errors.ts'
import type { SpanLink } from '../../shared/telemetry/otlp-spans.ts'
import type { Telemetry } from '../../shared/telemetry/telemetry-port.ts'
import { openTelemetry } from '../telemetry/open-telemetry.ts'
import type { Core } from './core.ts'
import { xrayTrace } from './invocation.ts'

/**
 * The Telemetry port, in bundles of stages whose settings name a collector. It sends when the invocation ends (entry.ts),
 * since a sandbox is frozen then; each span is linked to the trace of X-Ray its invocation is in.
 */
export function openAwsTelemetry(
  core: Pick<Core, 'settings' | 'secrets' | 'env' | 'log' | 'clock' | 'ids'>,
): Telemetry {
  const { settings, secrets, env, log, clock, ids } = core
  if (settings.telemetry === undefined) throw notNamed()
  return openTelemetry({
    telemetry: settings.telemetry,
    providers: settings.providers,
    clock,
    ids,
    resource: { 'deployment.environment.name': env.STAGE, 'cloud.provider': 'aws', 'cloud.region': env.AWS_REGION },
    readKey: async ({ secret }) => (secret === undefined ? '' : ((await secrets?.read({ secret })) ?? '')),
    link: xrayLink,
    // An error line would be counted as one of Sluice.
    tell: log.info,
    every_ms: 0,
  })
}

/** The same 32 digits, as W3C writes them. */
function xrayLink(): SpanLink | undefined {
  const { root, parent } = xrayTrace() ?? {}
  if (root === undefined || parent === undefined) return undefined
  return { trace_id: root.slice(2).replace('-', ''), span_id: parent, attributes: { 'aws.xray.trace_id': root } }
}

function notNamed(): Fault {
  const message = 'Cannot send spans: the settings of this deployment name no collector. Deploy again.'
  return new Fault('Bug', 'port_not_listed', message)
}
