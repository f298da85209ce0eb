import type { Command } from 'commander'
import type * as z from 'zod'
import { WEBHOOK_ROUTES } from '../../../shared/api/webhook-routes.ts'
import { callApi, chooseTarget, commandLine, type Target } from '../server/api.ts'
import { type TargetOptions, wholeNumber, withTargetOptions } from '../terminal/options.ts'
import { usageError } from '../terminal/refused.ts'
import type { Session } from '../terminal/session.ts'
import { jsonText, plainText } from '../terminal/text.ts'

/** `sluice webhooks ..`: who is told of events, and what nobody took. */
export function addWebhooks(parent: Command, session: Session): void {
  const webhooks = parent.command('webhooks').description('who is told of events over HTTP (docs/webhooks.md)')
  addWebhooksList(webhooks, session)
  addWebhooksTest(webhooks, session)
  addWebhooksDead(webhooks, session)
  addWebhooksReplay(webhooks, session)
}

function addWebhooksList(parent: Command, session: Session): void {
  withTargetOptions(
    parent
      .command('list')
      .description('the configured webhooks and buses: name, host or bus, and what each is told of'),
  ).action((options: TargetOptions) => listWebhooks(session, options))
}

async function listWebhooks(session: Session, { url, json }: TargetOptions): Promise<void> {
  const answer = await callApi(chooseTarget(session, url), ListSchema, (api) => api.GET('/api/webhooks'))
  if (json === true) return session.say(jsonText(answer, 2))
  const { webhooks, buses = [] } = answer
  if (webhooks.length + buses.length === 0) session.say('No webhooks: webhooks in sluice.yaml names none.')
  for (const { name, host, keys, ...told } of webhooks) {
    session.say(`${name}  ${host}  ${toldOf(told)}${keys > 1 ? ', key is being rotated' : ''}`)
  }
  for (const { name, bus, ...told } of buses) session.say(plainText(`${name}  bus ${bus}  ${toldOf(told)}`))
}

function toldOf({
  events,
  dags,
}: {
  readonly events: 'all' | readonly string[]
  readonly dags?: readonly string[] | undefined
}): string {
  const of = dags === undefined ? '' : ` of ${dags.join(', ')}`
  return `${events === 'all' ? 'all events' : events.join(', ')}${of}`
}

/** A newer server may say more, an older one knows no buses. */
const ListSchema = WEBHOOK_ROUTES['list-webhooks'].answer.partial({ buses: true }).loose()

function addWebhooksTest(parent: Command, session: Session): void {
  withTargetOptions(
    parent.command('test').description('send a message of type webhook:test to a webhook or a bus, once and now'),
  )
    .argument('<name>', 'name of a webhook or a bus, as `webhooks list` shows it')
    .action((name: string, options: TargetOptions) => testWebhook(session, name, options))
}

async function testWebhook(session: Session, name: string, { url, json }: TargetOptions): Promise<void> {
  const sent = await callApi(chooseTarget(session, url), TestSchema, (api) =>
    api.POST('/api/webhooks/test', { body: { name } }),
  )
  if (!sent.delivered) process.exitCode = 1
  if (json === true) return session.say(jsonText(sent, 2))
  session.say(plainText(`${sent.endpoint} ${becameOf(sent)}. Message: ${sent.id}`))
}

function becameOf({ delivered, status, reason }: Pick<z.output<typeof TestSchema>, 'delivered' | 'status' | 'reason'>) {
  if (!delivered) return `did not take it: ${reason}`
  return status === undefined ? 'took it' : `took it (${status})`
}

/** A newer server may say more. */
const TestSchema = WEBHOOK_ROUTES['test-webhook'].answer.loose()

interface DeadOptions extends TargetOptions {
  readonly endpoint?: string
  readonly delivered?: true
  readonly limit?: number
  readonly cursor?: string
}

function addWebhooksDead(parent: Command, session: Session): void {
  withTargetOptions(parent.command('dead').description('messages that were given up, latest event first'))
    .option('--endpoint <name>', 'of one endpoint')
    .option('--delivered', 'also those a replay has delivered')
    .option('--limit <n>', 'at most this many, 1 to 100 (default: 20)', wholeNumber(1, 100))
    .option('--cursor <cursor>', 'continue a list: the cursor its last line names')
    .action((options: DeadOptions) => listDead(session, options))
}

async function listDead(session: Session, options: DeadOptions): Promise<void> {
  const { url, json, endpoint, delivered, limit, cursor } = options
  const target = chooseTarget(session, url)
  const page = await fetchDeadWebhooks(target, {
    ...(endpoint !== undefined && { endpoint }),
    ...(delivered !== undefined && { delivered: 'true' as const }),
    ...(limit !== undefined && { limit }),
    ...(cursor !== undefined && { cursor }),
  })
  if (json === true) return session.say(jsonText(page, 2))
  if (page.dead.length === 0 && page.next_cursor === null) session.say('Every message was taken.')
  for (const one of page.dead) session.say(plainText(deadLine(one)))
  if (page.next_cursor === null) return
  const same = [
    ...(endpoint === undefined ? [] : [`--endpoint ${endpoint}`]),
    ...(delivered === undefined ? [] : ['--delivered']),
    ...(limit === undefined ? [] : [`--limit ${limit}`]),
  ]
  const words = ['webhooks dead', ...same, `--cursor ${page.next_cursor}`].join(' ')
  session.say(`More: ${commandLine(session, target, words)}`)
}

function deadLine({ id, type, tries, last, delivered_at }: DeadPage['dead'][number]): string {
  const became = delivered_at === undefined ? `${tries} tries, at last ${last.reason}` : `delivered ${delivered_at}`
  return `${id}  ${type}  ${became}`
}

interface ReplayOptions extends TargetOptions {
  readonly endpoint?: string
  readonly all?: true
}

function addWebhooksReplay(parent: Command, session: Session): void {
  withTargetOptions(parent.command('replay').description('send messages that were given up again, once and now'))
    .argument('[id...]', 'as `webhooks dead` lists them')
    .option('--endpoint <name>', 'every one of an endpoint')
    .option('--all', 'every one there is')
    .action((ids: readonly string[], options: ReplayOptions) => replay(session, ids, options))
}

async function replay(session: Session, ids: readonly string[], options: ReplayOptions): Promise<void> {
  const { url, json, endpoint, all } = options
  const isByName = endpoint !== undefined || all === true
  if (isByName === ids.length > 0) throw usageError('Name what to send again: ids, or --endpoint NAME, or --all.')
  const target = chooseTarget(session, url)
  const replayed: Replayed[] = []
  for (const id of isByName ? await deadIds(target, endpoint) : ids) {
    const one = await send(target, id)
    replayed.push(one)
    if (json !== true) session.say(plainText(`${id}  ${one.endpoint} ${becameOf(one)}`))
  }
  if (replayed.some(({ delivered }) => !delivered)) process.exitCode = 1
  if (json === true) return session.say(jsonText({ replayed }, 2))
  if (replayed.length === 0) session.say('Every message was taken: there is nothing to send again.')
}

/** A newer server may say more. */
const ReplaySchema = WEBHOOK_ROUTES['replay-webhook'].answer.loose()
type Replayed = Awaited<ReturnType<typeof send>>

function send(target: Target, id: string) {
  return callApi(target, ReplaySchema, (api) => api.POST('/api/webhooks/replay', { body: { id } }))
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

/** A newer server may say more. */
const DeadSchema = WEBHOOK_ROUTES['list-dead-webhooks'].answer.loose()
type DeadPage = z.output<typeof DeadSchema>

interface DeadQuery {
  readonly endpoint?: string
  readonly delivered?: 'true'
  readonly limit?: number
  readonly cursor?: string
}

/** One page of the messages nobody took. */
function fetchDeadWebhooks(target: Target, query: DeadQuery): Promise<DeadPage> {
  return callApi(target, DeadSchema, (api) => api.GET('/api/webhooks/dead', { params: { query } }))
}
