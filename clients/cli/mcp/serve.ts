import { once } from 'node:events'
import { Transform } from 'node:stream'
import { type CallToolResult, McpServer, type ServerContext } from '@modelcontextprotocol/server'
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio'
import * as z from 'zod'
import about from '../../../package.json' with { type: 'json' }
import { Fault, type Issue } from '../../../shared/errors.ts'
import { schemaIssues } from '../../../shared/text/schema-issues.ts'
import { type InexactNumber, inexactNumbers, inexactNumberWords } from '../../../shared/text/strict-json.ts'
import type { Target } from '../server/api.ts'
import { type InputIssue, Refused } from '../terminal/refused.ts'
import type { Tool, ToolCall } from './tool.ts'
import { MCP_TOOLS } from './tools.ts'

/** Speaks MCP on stdin and stdout until stdin ends; nothing else may be written to stdout meanwhile. */
export async function serveMcp(target: Target, decides: boolean, warn: (text: string) => void): Promise<void> {
  const ended = once(process.stdin, 'close')
  const transport = new StdioServerTransport(process.stdin.pipe(exactLines((line) => process.stdout.write(line))))
  const onerror = (error: Error) => warn(`mcp: ${error.message}`)
  const handle = serveStdio(() => serverOf(target, decides), { transport, onerror })
  await ended
  await handle.close()
}

function serverOf(target: Target, decides: boolean): McpServer {
  const server = new McpServer(
    { name: 'sluice', version: about.version },
    { instructions: instructions(target, decides) },
  )
  for (const one of MCP_TOOLS) if (decides || one.decides !== true) serveTool(server, target, one)
  return server
}

function instructions({ url }: Target, decides: boolean): string {
  const people = decides
    ? 'You may decide approvals: look at exactly what is shown first, and send its digest.'
    : 'Approvals are for people: tell them what is asked (list_approvals), they decide with `sluice approvals` or in the console.'
  return `Runs of gated DAGs of AI-agent work at ${url}. A run is started with start_run and followed with watch_run. ${people}`
}

/** Registers a tool: the schemas are told as JSON Schema, arguments are judged here, and whatever goes wrong is an answer. */
function serveTool(server: McpServer, target: Target, tool: Tool): void {
  const annotations = {
    readOnlyHint: tool.reads === true,
    destructiveHint: tool.destroys === true,
    idempotentHint: tool.reads === true || tool.repeats === true,
    openWorldHint: false,
  }
  const { title, description } = tool
  const schemas = { inputSchema: toldSchema(tool.input, 'input'), outputSchema: toldSchema(tool.output, 'output') }
  server.registerTool(tool.name, { title, description, annotations, ...schemas }, async (args, context) => {
    try {
      const parsed = tool.input.safeParse(args ?? {})
      if (!parsed.success) return refusedArguments(tool.name, schemaIssues(parsed.error, tool.input, args))
      const answer = await tool.run(parsed.data, callOf(target, context))
      return { content: [{ type: 'text', text: JSON.stringify(answer) }], structuredContent: { ...answer } }
    } catch (error) {
      return toolError(error, context.mcpReq.signal)
    }
  })
}

function callOf(target: Target, { mcpReq }: ServerContext): ToolCall {
  const progressToken = mcpReq._meta?.progressToken
  return {
    target,
    signal: mcpReq.signal,
    async progress(progress, message) {
      if (progressToken === undefined) return
      await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, message } })
    },
  }
}

/**
 * A schema as the protocol has it. It lets everything through: a wrong argument is answered by the tool, with code and
 * hint, not by the SDK with a text of its own; and what has no JSON form (free JSON values) is any value.
 */
function toldSchema(schema: z.ZodType, io: 'input' | 'output') {
  const json = () => z.toJSONSchema(schema, { io, unrepresentable: 'any' }) as Record<string, unknown>
  return {
    '~standard': {
      version: 1,
      vendor: 'sluice',
      validate: (value: unknown) => ({ value }),
      jsonSchema: { input: json, output: json },
    },
  } as const
}

interface Told {
  readonly code: string
  readonly detail: string
  readonly hint?: string
  /** HTTP status, where a server refused. */
  readonly status?: number
  readonly errors?: readonly Pick<InputIssue, 'path' | 'message' | 'hint'>[]
}

/** Errors in one answer. */
const MOST = 20

/** Whatever went wrong in a tool, as its answer: the server goes on. */
function toolError(error: unknown, signal: AbortSignal): CallToolResult {
  if (signal.aborted)
    return errorResult({ code: 'cancelled', detail: 'The call was cancelled; a run it watched goes on.' })
  if (error instanceof Refused) {
    const { code, detail, errors = [] } = error.reason
    const hint = HINTS[code] ?? errors.find((one) => one.hint !== undefined)?.hint
    return errorResult({
      code,
      detail,
      ...(hint === undefined ? {} : { hint }),
      ...(error.status === undefined ? {} : { status: error.status }),
      ...(errors.length === 0 ? {} : { errors: errors.slice(0, MOST) }),
    })
  }
  if (error instanceof Fault) return errorResult({ code: error.code, detail: error.message })
  const detail = `The tool itself failed, which is a bug: ${error instanceof Error ? error.message : String(error)}`
  return errorResult({ code: 'bug', detail })
}

/** Arguments that do not fit the schema of the tool. */
function refusedArguments(name: string, errors: readonly Issue[]): CallToolResult {
  const detail = `Cannot call ${name}: its arguments do not fit its schema.`
  const hint = errors.find((one) => one.hint !== undefined)?.hint ?? 'tools/list has the schema.'
  return errorResult({ code: 'invalid_arguments', detail, hint, errors })
}

/** A number in the arguments that a double would change. */
function inexactArguments(name: string, words: string): CallToolResult {
  return errorResult({ code: 'number_inexact', detail: `Cannot call ${name}: in its arguments ${words}.` })
}

/** What to do, where the server's own words are for people at a shell or it gives none. */
const HINTS: Readonly<Record<string, string>> = {
  no_server: 'Run `sluice start` in the project, or start `sluice mcp` with --url or SLUICE_URL.',
  not_sluice: 'Something else answers there: start `sluice mcp` with the --url of a Sluice server.',
  unauthenticated: 'Give `sluice mcp` a token in SLUICE_TOKEN.',
  unknown_run: 'list_runs shows the runs there are.',
  unknown_approval: 'list_approvals shows what people are asked.',
  digest_changed: 'What is asked has changed: call list_approvals and look at it again.',
}

function errorResult(error: Told): CallToolResult {
  const { code, detail, hint, errors = [] } = error
  const lines = [
    `${code}: ${detail}`,
    ...errors.map(({ path, message }) => `- ${path === '' ? '' : `${path}: `}${message}`),
    ...(hint === undefined ? [] : [hint]),
  ]
  return { isError: true, content: [{ type: 'text', text: lines.join('\n') }], structuredContent: { error } }
}

/** More in one line the SDK refuses. */
const MOST_BYTES = 10_485_760
const NEWLINE = 10

/**
 * The lines of an MCP client as they came, but for those with a number that the SDK's parser would change without a word
 * (9007199254740993): nobody after it could tell. These are answered here, in the words of `answer`.
 */
function exactLines(answer: (line: string) => void): Transform {
  let rest: Buffer[] = []
  let bytes = 0
  const taken = (): Buffer => {
    const whole = Buffer.concat(rest)
    rest = []
    bytes = 0
    return whole
  }
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      let start = 0
      for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
        rest.push(chunk.subarray(start, end + 1))
        start = end + 1
        const line = taken()
        const refused = refusalOf(line.toString('utf8'))
        if (refused === undefined) this.push(line)
        else if (refused !== null) answer(`${JSON.stringify(refused)}\n`)
      }
      rest.push(chunk.subarray(start))
      bytes += chunk.length - start
      if (bytes > MOST_BYTES) this.push(taken())
      done()
    },
    flush(done) {
      done(null, taken())
    },
  })
}

/** Undefined: the line is exact, or no JSON, which the SDK says. null: nobody waits for an answer. */
function refusalOf(line: string): object | null | undefined {
  const [changed] = inexactNumbers(line)
  if (changed === undefined) return undefined
  const message = parsed(line)
  if (message === undefined) return undefined
  const { id, method } = message
  if (id === undefined) return null
  // An id that is changed itself is no name of a question any more.
  const asked = typeof id === 'number' && !Number.isSafeInteger(id) ? null : id
  return { jsonrpc: '2.0', id: asked, ...refusal(method, message.params, changed) }
}

interface Message {
  readonly id?: unknown
  readonly method?: unknown
  readonly params?: unknown
}

function parsed(line: string): Message | undefined {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}

const INVALID_PARAMS = -32_602

/** Of a tool as tools refuse, so that the model reads it. */
function refusal(method: unknown, params: unknown, changed: InexactNumber): object {
  if (method !== 'tools/call')
    return { error: { code: INVALID_PARAMS, message: `Cannot read it: ${inexactNumberWords(changed)}.` } }
  const name = typeof params === 'object' && params !== null && 'name' in params ? String(params.name) : 'the tool'
  return { result: inexactArguments(name, inexactNumberWords(changed)) }
}
