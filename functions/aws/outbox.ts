import { InvokeCommand, LambdaClient, type LambdaClientConfig } from '@aws-sdk/client-lambda'
import type { GraphWork } from '../../shared/graph/graph-work.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import type { SlackWork } from '../../shared/slack/slack-port.ts'
import type { WebhookWork } from '../../shared/webhooks/webhooks-port.ts'
import type { Outbox } from '../../shared/world.ts'
import { createCall } from './call-function.ts'
import { CLIENT_OPTIONS } from './client-options.ts'
import { functionArn } from './named-setting.ts'
import { sdkFault } from './sdk-fault.ts'
import type { Core } from './world.ts'

/** What a nudge may cost the caller (docs/architecture.md, "Effects on the world"). */
const NUDGE_MS = 300
/** What work for Slack may: who clicked waits for an answer, three seconds at the most. */
const SLACK_MS = 1_500
/** A PUT of some hundred bytes, three times tried. */
const ANCHOR_MS = 29_000

/**
 * The Outbox port: asynchronous invokes. A nudge is given up after 300 ms and its failure ignored, since the sweeper
 * repeats what is owed; a start that could not be handed over is thrown, so that its outbox entry stays.
 */
export function openOutbox({ env, log }: Pick<Core, 'env' | 'log'>, config: LambdaClientConfig = {}): Outbox {
  const client = new LambdaClient({ ...CLIENT_OPTIONS, ...config })
  const invoke = (name: string, payload: RunKey | SlackWork | WebhookWork | GraphWork, abortSignal?: AbortSignal) => {
    const Payload = Buffer.from(JSON.stringify(payload))
    const command = new InvokeCommand({ FunctionName: functionArn(env, name), InvocationType: 'Event', Payload })
    return client.send(command, abortSignal === undefined ? {} : { abortSignal })
  }
  const writeAnchor = createCall<unknown>({ env }, 'write-anchor', config)
  const nudge = async (name: string, payload: RunKey | GraphWork, facts: Readonly<Record<string, string>>) => {
    try {
      await invoke(name, payload, AbortSignal.timeout(NUDGE_MS))
    } catch (error) {
      const { code, facts: seen } = sdkFault(error, { doing: `nudge ${name}`, action: 'lambda:InvokeFunction' })
      log.info('nudge not delivered', { ...facts, code, ...seen })
    }
  }
  return {
    nudge: ({ tenant, run_id }) => nudge('send-outbox', { tenant, run_id }, { run_id }),
    graphWork: (work) => nudge('index-graph', work, { tenant: work.tenant }),
    async startRun({ tenant, run_id }) {
      try {
        await invoke('start-run', { tenant, run_id })
      } catch (error) {
        throw sdkFault(error, { doing: `start run "${run_id}"`, action: 'lambda:InvokeFunction' })
      }
    },
    async slackWork(work) {
      try {
        await invoke('slack-work', work, AbortSignal.timeout(SLACK_MS))
      } catch (error) {
        throw sdkFault(error, { doing: 'hand work to slack-work', action: 'lambda:InvokeFunction' })
      }
    },
    async writeAnchor(anchor) {
      await writeAnchor(anchor, ANCHOR_MS)
    },
    async webhookWork(work) {
      try {
        await invoke('send-webhooks', work)
      } catch (error) {
        throw sdkFault(error, { doing: 'hand work to send-webhooks', action: 'lambda:InvokeFunction' })
      }
    },
  }
}
