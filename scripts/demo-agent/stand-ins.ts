import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { json } from 'node:stream/consumers'

/** What the demo puts in place of a model and of a ledger: servers of this process, which count what they are asked. */
interface StandIn {
  readonly url: string
  close(): void
}

export interface ScriptTurn {
  readonly text: string
  readonly calls?: readonly (readonly [tool: string, args: object])[]
}

export interface ScriptedModel extends StandIn {
  /** The turn that each request asked for, in the order they came. */
  readonly asked: readonly number[]
}

/** A server that speaks chat completions and says, turn for turn, what the script has. It is no model. */
export async function openScriptedModel(script: readonly ScriptTurn[]): Promise<ScriptedModel> {
  const asked: number[] = []
  const server = await serve(async (request, response) => {
    const { messages, stream } = (await json(request)) as {
      readonly messages: readonly { readonly role: string }[]
      readonly stream?: boolean
    }
    const turn = messages.filter(({ role }) => role === 'assistant').length
    asked.push(turn)
    const answer = completion(turn, script[turn] ?? { text: 'The script has no more to say.' })
    if (stream === true) sendStream(response, answer)
    else send(response, answer)
  })
  return { ...server, asked }
}

function completion(turn: number, { text, calls = [] }: ScriptTurn) {
  const tool_calls = calls.map(([name, args], at) => ({
    index: at,
    id: `call_${turn + 1}_${at + 1}`,
    type: 'function',
    function: { name, arguments: JSON.stringify(args) },
  }))
  const message = { role: 'assistant', content: text, ...(tool_calls.length === 0 ? {} : { tool_calls }) }
  const finish_reason = tool_calls.length === 0 ? 'stop' : 'tool_calls'
  return {
    id: `script-${turn + 1}`,
    object: 'chat.completion',
    created: 0,
    model: 'script',
    choices: [{ index: 0, message, finish_reason }],
    usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
  }
}

/** The whole answer as one piece, then how it ended. */
function sendStream(response: ServerResponse, { choices, usage, ...head }: ReturnType<typeof completion>): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const pieces = choices.flatMap(({ index, message, finish_reason }) => [
    { choices: [{ index, delta: message, finish_reason: null }] },
    { choices: [{ index, delta: {}, finish_reason }] },
  ])
  for (const piece of [...pieces, { choices: [], usage }]) {
    response.write(`data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', ...piece })}\n\n`)
  }
  response.end('data: [DONE]\n\n')
}

export interface Booking {
  readonly what: string
  readonly key: string
  readonly receipt: string
  readonly amount?: number
}

export interface Ledger extends StandIn {
  /** Keys, as often as they were sent. */
  readonly keys: readonly string[]
  /** One a key. */
  readonly booked: readonly Booking[]
  /** The next booking is made and not answered; resolves when it is made. */
  holdNext(): Promise<void>
}

/** Books what it is told once a key, and answers the same each time. */
export async function openLedger(): Promise<Ledger> {
  const keys: string[] = []
  const booked = new Map<string, Booking>()
  let held: (() => void) | undefined
  const server = await serve(async (request, response) => {
    const told = (await json(request)) as Pick<Booking, 'what' | 'key' | 'amount'>
    keys.push(told.key)
    const booking = booked.get(told.key) ?? { ...told, receipt: `R-${1_001 + booked.size}` }
    booked.set(told.key, booking)
    const hold = held
    held = undefined
    if (hold === undefined) send(response, { receipt: booking.receipt })
    else hold()
  })
  const holdNext = async () => {
    const made = Promise.withResolvers<void>()
    held = made.resolve
    await made.promise
  }
  return {
    ...server,
    keys,
    get booked() {
      return [...booked.values()]
    },
    holdNext,
  }
}

async function serve(answer: (request: IncomingMessage, response: ServerResponse) => Promise<void>): Promise<StandIn> {
  const server = createServer((request, response) => void answer(request, response).catch(() => response.destroy()))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : undefined
  const close = () => {
    server.close()
    server.closeAllConnections()
  }
  return { url: `http://127.0.0.1:${port}`, close }
}

function send(response: ServerResponse, body: object): void {
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify(body))
}
