import { InvokeCommand, LambdaClient, type LambdaClientConfig } from '@aws-sdk/client-lambda'
import { Fault } from '../../shared/errors.ts'
import type { Http, LimitedAnswer, Shell, ShellAnswer } from '../../shared/gates/gate-ports.ts'
import { shellRefusal } from '../../shared/gates/gate-ports.ts'
import type { Outbox } from '../../shared/world.ts'
import { type Core, functionArn } from './core.ts'
import { CLIENT_OPTIONS, sdkFault } from './sdk.ts'

/** Longer than the function's own limits: whoever gives up first must be the function. */
const LONGER_MS = 12_000

/**
 * Calls another function of the catalog and waits for its answer, which is of the type its handler gives. It is not
 * called again on a lost answer: a webhook would hear twice. Fault Unavailable function_failed, and those of the SDK.
 */
export function functionCall<Answer>(
  { env }: Pick<Core, 'env'>,
  name: string,
  config: LambdaClientConfig = {},
): (payload: unknown, ms: number) => Promise<Answer> {
  const client = new LambdaClient({ ...CLIENT_OPTIONS, maxAttempts: 1, ...config })
  return async (payload, ms) => {
    const command = new InvokeCommand({ FunctionName: functionArn(env, name), Payload: JSON.stringify(payload) })
    const answer = await client.send(command, { requestTimeout: ms + LONGER_MS }).catch((error: unknown) => {
      throw sdkFault(error, { doing: `call ${name}`, action: 'lambda:InvokeFunction' })
    })
    if (answer.FunctionError !== undefined || answer.Payload === undefined) throw failed(name)
    return JSON.parse(answer.Payload.transformToString())
  }
}

/** Its own words stand in its own log. */
function failed(name: string): Fault {
  return new Fault('Unavailable', 'function_failed', `Function "${name}" broke off. Its log says why.`)
}

/** What a nudge may cost the caller (docs/architecture.md, "Effects on the world"). */
const NUDGE_MS = 300
/** What work for Slack may: who clicked waits for an answer, three seconds at the most. */
const SLACK_WORK_MS = 1_500
/** A PUT of some hundred bytes, three times tried. */
const ANCHOR_MS = 29_000

/**
 * The Outbox port: asynchronous invokes. A nudge is given up after 300 ms and its failure ignored, since the sweeper
 * repeats what is owed; a start that could not be handed over is thrown, so that its outbox entry stays.
 */
export function openOutbox({ env, log }: Pick<Core, 'env' | 'log'>, config: LambdaClientConfig = {}): Outbox {
  const client = new LambdaClient({ ...CLIENT_OPTIONS, ...config })
  const invoke = (name: string, payload: object, abortSignal?: AbortSignal) => {
    const Payload = Buffer.from(JSON.stringify(payload))
    const command = new InvokeCommand({ FunctionName: functionArn(env, name), InvocationType: 'Event', Payload })
    return client.send(command, abortSignal === undefined ? {} : { abortSignal })
  }
  const writeAnchor = functionCall<unknown>({ env }, 'write-anchor', config)
  const nudge = async (name: string, payload: object, facts: Readonly<Record<string, string>>) => {
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
        await invoke('slack-work', work, AbortSignal.timeout(SLACK_WORK_MS))
      } catch (error) {
        throw sdkFault(error, { doing: 'hand work to slack-work', action: 'lambda:InvokeFunction' })
      }
    },
    fireTriggers: (ended) =>
      nudge('fire-triggers', ended === undefined ? {} : { ended }, ended === undefined ? {} : { run_id: ended.run_id }),
    keepOrErase: ({ tenant, run_id }) => nudge('keep-or-erase', { tenant, run_id }, { run_id }),
    runBulk: ({ tenant, bulk_id }) => nudge('run-bulk', { tenant, bulk_id }, { bulk_id }),
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
    async busWork(work) {
      try {
        await invoke('send-bus-events', work)
      } catch (error) {
        throw sdkFault(error, { doing: 'hand work to send-bus-events', action: 'lambda:InvokeFunction' })
      }
    },
  }
}

/** The Http port: a call of net-gate, whose role can do nothing, so that no request is made with rights of the caller. */
export function openHttp(core: Pick<Core, 'env'>, config: LambdaClientConfig = {}): Http {
  const call = functionCall<LimitedAnswer>(core, 'net-gate', config)
  return { request: (request) => call(request, request.timeout_ms) }
}

/** The Shell port: a call of shell-gate. Where the stage's settings allow no command there is no such function to call. */
export function openShell({ env, settings }: Pick<Core, 'env' | 'settings'>, config: LambdaClientConfig = {}): Shell {
  const call = functionCall<ShellAnswer>({ env }, 'shell-gate', config)
  return {
    async run(command) {
      const reason = shellRefusal(settings.shell_gates, command.argv)
      return reason === undefined ? call(command, command.timeout_ms) : { kind: 'refused', reason }
    },
  }
}
