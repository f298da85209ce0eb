import type { Command } from 'commander'
import { WEBHOOK_ROUTES } from '../../shared/api/webhook-routes.ts'
import { callApi, chooseTarget, type Target } from './api.ts'
import { fetchDeadWebhooks } from './fetch-dead-webhooks.ts'
import { jsonText } from './json-text.ts'
import { plainText } from './plain-text.ts'
import { usage } from './refused.ts'
import type { Session } from './session.ts'
import { type TargetOptions, withTarget } from './target-options.ts'

interface ReplayOptions extends TargetOptions {
  readonly endpoint?: string
  readonly all?: true
}

export function addWebhooksReplay(parent: Command, session: Session): void {
  withTarget(parent.command('replay').description('send messages that were given up again, once and now'))
    .argument('[id...]', 'as `webhooks dead` lists them')
    .option('--endpoint <name>', 'every one of an endpoint')
    .option('--all', 'every one there is')
    .action((ids: readonly string[], options: ReplayOptions) => replay(session, ids, options))
}

async function replay(session: Session, ids: readonly string[], options: ReplayOptions): Promise<void> {
  const { url, json, endpoint, all } = options
  const isByName = endpoint !== undefined || all === true
  if (isByName === ids.length > 0) throw usage('Name what to send again: ids, or --endpoint NAME, or --all.')
  const target = chooseTarget(session, url)
  const replayed: Replayed[] = []
  for (const id of isByName ? await deadIds(target, endpoint) : ids) {
    const one = await send(target, id)
    replayed.push(one)
    const words = one.delivered ? `took it (${one.status})` : `did not take it: ${one.reason}`
    if (json !== true) session.say(plainText(`${id}  ${one.endpoint} ${words}`))
  }
  if (replayed.some(({ delivered }) => !delivered)) process.exitCode = 1
  if (json === true) return session.say(jsonText({ replayed }, 2))
  if (replayed.length === 0) session.say('Every message was taken: there is nothing to send again.')
}

/** A newer server may say more. */
const AnswerSchema = WEBHOOK_ROUTES['replay-webhook'].answer.loose()
type Replayed = Awaited<ReturnType<typeof send>>

function send(target: Target, id: string) {
  return callApi(target, AnswerSchema, (api) => api.POST('/api/webhooks/replay', { body: { id } }))
}

/** Oldest first, as they would have come. */
async function deadIds(target: Target, endpoint: string | undefined): Promise<readonly string[]> {
  const found: string[] = []
  let cursor: string | null | undefined
  do {
    const place = typeof cursor === 'string' ? { cursor } : {}
    const of = endpoint === undefined ? {} : { endpoint }
    const page = await fetchDeadWebhooks(target, { limit: PAGE, ...of, ...place })
    found.push(...page.dead.map(({ id }) => id))
    cursor = page.next_cursor
  } while (cursor !== null)
  return found.toReversed()
}

const PAGE = 100
