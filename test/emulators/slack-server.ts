import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { blockProblems, viewProblems } from './block-kit.ts'
import { signedHeaders } from './slack-signature.ts'

type Loose = Readonly<Record<string, unknown>>

/** A message as the workspace shows it now. */
export interface PostedMessage {
  readonly channel: string
  readonly ts: string
  readonly thread_ts?: string
  readonly aloud: boolean
  readonly text: string
  readonly blocks: readonly Loose[]
  readonly edits: number
}

export interface SlackWorkspace {
  readonly token: string
  readonly signing_secret: string
  readonly team: string
  readonly app: string
  readonly channel: string
  readonly scopes?: string
}

/** What a callback came to. */
export interface Delivered {
  readonly status: number
  readonly body: string
  readonly ms: number
}

/** 'drop' cuts the connection, 'hang' never answers, a number is seconds of Retry-After, a text Slack's error. */
type Failure = 'drop' | 'hang' | number | `error:${string}`

/** Slack answers its own clients within this, and gives up on ours. */
const PATIENCE_MS = 3_000

/**
 * A workspace of Slack with one app and one channel, over HTTP: checks token and blocks as Slack does, gives triggers
 * that open one modal within three seconds, signs its callbacks and sends them again with Slack's headers. What it does
 * not do: rate limits of its own, other channels, deleted users.
 */
export async function startSlack(workspace: SlackWorkspace) {
  const messages: PostedMessage[] = []
  const ephemerals: { readonly user: string; readonly text: string; readonly blocks: readonly Loose[] }[] = []
  const views: { readonly id: string; readonly trigger_id: string; readonly view: Loose }[] = []
  const triggers = new Map<string, number>()
  const calls: { readonly method: string; readonly args: Loose }[] = []
  const failures = new Map<string, Failure[]>()
  const seen: string[] = []
  let callback = ''
  let clock = 1_700_000_000
  const stamp = () => {
    clock += 1
    return `${clock}.000100`
  }
  const trigger = () => {
    const id = `${clock}.${triggers.size}.trigger`
    triggers.set(id, Date.now())
    return id
  }
  const methods: Readonly<Record<string, (args: Loose) => Loose>> = {
    'auth.test': () => ({
      ok: true,
      team_id: workspace.team,
      user_id: 'U0BOT',
      bot_id: 'B0BOT',
      url: 'https://x.slack.com/',
    }),
    'chat.postMessage': (args) => {
      const refused = refusedMessage(args, workspace)
      if (refused !== undefined) return refused
      const root = args.thread_ts === undefined ? undefined : messages.find(({ ts }) => ts === args.thread_ts)
      if (args.thread_ts !== undefined && root === undefined) return { ok: false, error: 'thread_not_found' }
      const ts = stamp()
      const thread = root === undefined ? {} : { thread_ts: root.ts }
      const aloud = root === undefined || String(args.reply_broadcast) === 'true'
      messages.push({
        channel: workspace.channel,
        ts,
        ...thread,
        aloud,
        text: String(args.text),
        blocks: blocksOf(args),
        edits: 0,
      })
      return { ok: true, channel: workspace.channel, ts }
    },
    'chat.update': (args) => {
      const at = messages.findIndex(({ ts }) => ts === args.ts)
      const known = messages[at]
      if (known === undefined) return { ok: false, error: 'message_not_found' }
      const refused = refusedMessage(args, workspace)
      if (refused !== undefined) return refused
      messages[at] = { ...known, text: String(args.text), blocks: blocksOf(args), edits: known.edits + 1 }
      return { ok: true, channel: workspace.channel, ts: known.ts }
    },
    'chat.postEphemeral': (args) => {
      const refused = refusedMessage(args, workspace)
      if (refused !== undefined) return refused
      ephemerals.push({ user: String(args.user), text: String(args.text), blocks: blocksOf(args) })
      return { ok: true, message_ts: stamp() }
    },
    'views.open': (args) => {
      const id = String(args.trigger_id)
      const made = triggers.get(id)
      if (made === undefined) return { ok: false, error: 'invalid_trigger_id' }
      if (views.some(({ trigger_id }) => trigger_id === id)) return { ok: false, error: 'exchanged_trigger_id' }
      if (Date.now() - made > PATIENCE_MS) return { ok: false, error: 'expired_trigger_id' }
      const view = typeof args.view === 'string' ? JSON.parse(args.view) : args.view
      const problems = viewProblems(view)
      if (problems.length > 0)
        return { ok: false, error: 'invalid_arguments', response_metadata: { messages: problems } }
      const opened = { id: `V0${views.length + 1}MODAL`, trigger_id: id, view: view as Loose }
      views.push(opened)
      return { ok: true, view: { ...opened.view, id: opened.id } }
    },
  }
  const answerTo = (method: string, args: Loose, bearer: unknown, failure: Failure | undefined): Loose => {
    if (typeof failure === 'string') return { ok: false, error: failure.slice('error:'.length) }
    if (bearer === undefined) return { ok: false, error: 'not_authed' }
    if (bearer !== workspace.token) return { ok: false, error: 'invalid_auth' }
    return methods[method]?.(args) ?? { ok: false, error: 'unknown_method' }
  }
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const method = (request.url ?? '').replace(/^\/api\//, '')
    const body = await bodyOf(request)
    seen.push(`${method} ${body}`)
    const failure = failures.get(method)?.shift()
    if (failure === 'hang') return
    if (failure === 'drop') return void request.socket.destroy()
    if (typeof failure === 'number') {
      return send(response, 429, { ok: false, error: 'ratelimited' }, { 'retry-after': String(failure) })
    }
    const args = argsOf(request, body)
    calls.push({ method, args })
    const bearer = request.headers.authorization?.replace(/^Bearer /, '') ?? args.token
    const scopes = { 'x-oauth-scopes': workspace.scopes ?? 'chat:write' }
    send(response, 200, answerTo(method, args, bearer, failure), scopes)
  }
  const server = createServer((request, response) => void serve(request, response).catch(() => response.destroy()))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0

  /** Sends a signed callback as Slack does: three seconds, then again with its headers, as often as told. */
  const deliver = async (body: string, again = 0): Promise<Delivered> => {
    for (let tries = 0; ; tries += 1) {
      const delivered = await post(callback, body, workspace.signing_secret, tries)
      if (delivered.status === 200 || tries >= again) return delivered
      await pause(20)
    }
  }
  const identity = (user: string) => ({
    user: { id: user, username: 'somebody', team_id: workspace.team },
    api_app_id: workspace.app,
    team: { id: workspace.team, domain: 'x' },
    token: 'an old verification token',
  })
  return {
    api_url: `http://127.0.0.1:${port}/api/`,
    messages,
    ephemerals,
    views,
    calls,
    /** Every request as it came, for what must never be in one. */
    seen,
    fail: (method: string, ...how: readonly Failure[]) =>
      void failures.set(method, [...(failures.get(method) ?? []), ...how]),
    /** Where callbacks go. */
    sendTo: (url: string) => {
      callback = url
    },
    deliver,
    /** The body of a click on a button that the message has now. */
    clickBody(message: PostedMessage, action_id: string, user: string, action_ts = stamp()): string {
      const now = messages.find(({ ts }) => ts === message.ts)
      const found = now?.blocks
        .flatMap(({ elements }) => (Array.isArray(elements) ? elements : []))
        .find((one) => one.action_id === action_id)
      if (now === undefined || found === undefined) throw new Error(`the message has no button ${action_id}`)
      return formOf({
        type: 'block_actions',
        ...identity(user),
        container: { type: 'message', message_ts: now.ts, channel_id: now.channel, is_ephemeral: false },
        channel: { id: now.channel, name: 'approvals' },
        message: { type: 'message', ts: now.ts, blocks: now.blocks },
        state: { values: {} },
        trigger_id: trigger(),
        response_url: 'https://hooks.slack.com/actions/T1/1/x',
        actions: [{ type: 'button', block_id: 'b', action_id, text: found.text, value: found.value, action_ts }],
      })
    },
    /** The body of a modal that somebody sent. */
    submitBody(view: { readonly id: string; readonly view: Loose }, user: string, words: string | null): string {
      const [input] = view.view.blocks as readonly {
        readonly block_id: string
        readonly element: { readonly action_id: string }
      }[]
      const values = {
        [input?.block_id ?? '']: { [input?.element.action_id ?? '']: { type: 'plain_text_input', value: words } },
      }
      return formOf({
        type: 'view_submission',
        ...identity(user),
        trigger_id: trigger(),
        view: { ...view.view, id: view.id, team_id: workspace.team, state: { values }, hash: '1.x' },
      })
    },
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}
export type SlackServer = Awaited<ReturnType<typeof startSlack>>

export function formOf(payload: Loose): string {
  return `payload=${encodeURIComponent(JSON.stringify(payload)).replaceAll('%20', '+')}`
}

async function post(url: string, body: string, secret: string, tries: number): Promise<Delivered> {
  const began = performance.now()
  const again = tries === 0 ? {} : { 'x-slack-retry-num': String(tries), 'x-slack-retry-reason': 'http_error' }
  const headers = { 'content-type': 'application/x-www-form-urlencoded', ...signedHeaders(secret, body), ...again }
  const response = await fetch(url, { method: 'POST', headers, body, signal: AbortSignal.timeout(PATIENCE_MS) })
  return { status: response.status, body: await response.text(), ms: performance.now() - began }
}

function refusedMessage(args: Loose, { channel }: SlackWorkspace): Loose | undefined {
  if (args.channel !== channel) return { ok: false, error: 'channel_not_found' }
  if (typeof args.text !== 'string' || args.text.length > 40_000) return { ok: false, error: 'no_text' }
  const problems = blockProblems(blocksOf(args), 'message')
  return problems.length === 0
    ? undefined
    : { ok: false, error: 'invalid_blocks', response_metadata: { messages: problems } }
}

function blocksOf({ blocks }: Loose): readonly Loose[] {
  return typeof blocks === 'string' ? JSON.parse(blocks) : ((blocks ?? []) as readonly Loose[])
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}

function argsOf(request: IncomingMessage, body: string): Loose {
  const isJson = request.headers['content-type']?.startsWith('application/json') === true
  return isJson ? JSON.parse(body) : Object.fromEntries(new URLSearchParams(body))
}

function send(
  response: ServerResponse,
  status: number,
  body: Loose,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...headers })
  response.end(JSON.stringify(body))
}
