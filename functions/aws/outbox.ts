import { InvokeCommand, LambdaClient, type LambdaClientConfig } from '@aws-sdk/client-lambda'
import type { RunKey } from '../../shared/runs/run-store.ts'
import type { Outbox } from '../../shared/world.ts'
import { CLIENT_OPTIONS } from './client-options.ts'
import { sdkFault } from './sdk-fault.ts'
import { functionArn } from './settings.ts'
import type { Core } from './world.ts'

/** What a nudge may cost the caller (decisions, "Effects"). */
const NUDGE_MS = 300

/**
 * The Outbox port: asynchronous invokes. A nudge is given up after 300 ms and its failure ignored, since the sweeper
 * repeats what is owed; a start that could not be handed over is thrown, so that its outbox entry stays.
 */
export function openOutbox({ env, log }: Pick<Core, 'env' | 'log'>, config: LambdaClientConfig = {}): Outbox {
  const client = new LambdaClient({ ...CLIENT_OPTIONS, ...config })
  const invoke = (name: string, { tenant, run_id }: RunKey, abortSignal?: AbortSignal) => {
    const Payload = Buffer.from(JSON.stringify({ tenant, run_id }))
    const command = new InvokeCommand({ FunctionName: functionArn(env, name), InvocationType: 'Event', Payload })
    return client.send(command, abortSignal === undefined ? {} : { abortSignal })
  }
  return {
    async nudge(run) {
      try {
        await invoke('send-outbox', run, AbortSignal.timeout(NUDGE_MS))
      } catch (error) {
        const { code, facts } = sdkFault(error, { doing: 'nudge send-outbox', action: 'lambda:InvokeFunction' })
        log.info('nudge not delivered', { run_id: run.run_id, code, ...facts })
      }
    },
    async startRun(run) {
      try {
        await invoke('start-run', run)
      } catch (error) {
        throw sdkFault(error, { doing: `start run "${run.run_id}"`, action: 'lambda:InvokeFunction' })
      }
    },
  }
}
