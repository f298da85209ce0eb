import type { Tool } from '@modelcontextprotocol/client'
import { Fault } from '../../shared/errors.ts'
import type { KeyRef } from '../../shared/ports/secrets.ts'
import { didYouMean, listed, quoted, suggest } from '../../shared/text/wording.ts'
import { readCallResult, readToldTools } from '../../shared/tools/mcp-answers.ts'
import type { McpCall, McpResult, McpServers, McpTool } from '../../shared/tools/mcp-port.ts'
import {
  type AllowedTools,
  findMcpServer,
  isAllowedTool,
  type McpServerSettings,
  type McpServersSettings,
  mcpKeys,
} from '../../shared/tools/settings.ts'
import { toolChangedFault, toolHash } from '../../shared/tools/tool-pin.ts'
import { type McpConnection, NoAnswer, openConnection, type Trouble } from './connection.ts'
import { withoutSecrets } from './hide-secrets.ts'
import { httpChannel } from './http-channel.ts'

/** What a place has for the port. */
export interface McpPlace {
  /** Undefined = it has no value of it. */
  readKey(key: KeyRef): Promise<string | undefined>
  /** A process of this machine; absent: the place starts none. */
  readonly processes?: McpProcesses
}

/** Servers of stdio, one process each. */
export interface McpProcesses {
  /** The connection that stands, or a new one. */
  connection(name: string, settings: McpServerSettings): Promise<McpConnection>
  /** Values it was given that must not be told on. */
  secrets(settings: McpServerSettings): readonly string[]
}

/**
 * The McpServers port over clients of the protocol. Over HTTP each list and each call is a session of its own: it may be
 * made in another process than the one before, and no run sees what another one left there. Servers of stdio are shared by
 * the whole place.
 */
export function openMcpServers(servers: McpServersSettings, place: McpPlace): McpServers {
  return {
    names: () => Object.keys(servers),
    async tools(name, signal) {
      const settings = required(servers, name)
      return connected({ name, settings, place, signal }, async (connection, secrets) => {
        const told = await listTools(connection, { name, settings, signal, secrets })
        return allowedTools(name, told, settings.tools)
      })
    },
    async call(name, call) {
      const settings = required(servers, name)
      return connected({ name, settings, place, signal: call.signal }, async (connection, secrets) => {
        const tool = await sameTool(connection, { name, settings, call, secrets })
        return withoutSecrets(await callOnce(connection, tool, { name, settings, call }), secrets)
      })
    },
  }
}

function required(servers: McpServersSettings, name: string): McpServerSettings {
  const found = findMcpServer(servers, name)
  if (found !== undefined) return found
  const known = Object.keys(servers)
  const near = didYouMean(suggest(name, known)) ?? 'Add it under mcp_servers in sluice.yaml.'
  const message = `Cannot ask MCP server ${quoted(name)}: there is none of that name; there are ${listed(known)}. ${near}`
  throw new Fault('InvalidInput', 'unknown_mcp_server', message)
}

interface Asked {
  readonly name: string
  readonly settings: McpServerSettings
  readonly signal: AbortSignal
}

async function connected<T>(
  { place, ...asked }: Asked & { readonly place: McpPlace },
  use: (connection: McpConnection, secrets: readonly string[]) => Promise<T>,
): Promise<T> {
  asked.signal.throwIfAborted()
  const { name, settings, signal } = asked
  if (settings.url === undefined) return withProcess(asked, place.processes, use)
  const { headers, secrets } = await keysOf(name, settings, place)
  const over = new AbortController()
  const channel = httpChannel(
    { url: new URL(settings.url).href, headers, secrets },
    AbortSignal.any([signal, over.signal]),
  )
  try {
    const connection = await asking(asked, () => openConnection(channel, bounds(asked)))
    try {
      return await use(connection, secrets)
    } finally {
      // Whoever stops does not wait for a goodbye.
      if (!signal.aborted) await Promise.race([channel.end(), soon()])
      await connection.close()
    }
  } catch (error) {
    throw faultWithout(secrets, error)
  } finally {
    over.abort()
  }
}

const GOODBYE_MS = 1_000

function soon(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, GOODBYE_MS).unref())
}

async function withProcess<T>(
  asked: Asked,
  processes: McpProcesses | undefined,
  use: (connection: McpConnection, secrets: readonly string[]) => Promise<T>,
): Promise<T> {
  const { name, settings, signal } = asked
  if (processes === undefined) {
    const message = `Cannot ask MCP server "${name}": it is started by a command, which only a local place does. Give it a url under mcp_servers, or keep it out of the settings of this stage.`
    throw new Fault('InvalidInput', 'mcp_not_here', message, { facts: { server: name } })
  }
  const secrets = processes.secrets(settings)
  try {
    const connection = await asking(asked, () => aborted(processes.connection(name, settings), signal))
    return await use(connection, secrets)
  } catch (error) {
    throw faultWithout(secrets, error)
  }
}

/** Others may wait for the same: it goes on, and whoever stops leaves. */
function aborted<T>(pending: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  const stop = () => reject(signal.reason)
  signal.addEventListener('abort', stop, { once: true })
  return Promise.race([pending, promise]).finally(() => signal.removeEventListener('abort', stop))
}

async function keysOf(name: string, settings: McpServerSettings, { readKey }: McpPlace) {
  const headers: Record<string, string> = {}
  const secrets: string[] = []
  for (const { path, header, key } of mcpKeys(settings)) {
    const value = (await readKey(key))?.trim() ?? ''
    if (!/^[\x21-\x7e][\x20-\x7e]{0,8191}$/.test(value)) throw missingKey(name, path, value)
    headers[header] = path === 'key' ? `Bearer ${value}` : value
    secrets.push(value)
  }
  return { headers, secrets }
}

function missingKey(server: string, path: string, seen: string): Fault {
  const why =
    seen === '' ? 'this place has no value of it' : 'no header can carry it, which is one line of printable ASCII'
  const message = `Cannot ask MCP server "${server}": its ${path}: ${why}. Set the environment variable that mcp_servers.${server}.${path}.env names (on AWS, the value behind mcp_servers.${server}.${path}.secret), and start the place again or deploy.`
  return new Fault('InvalidInput', 'mcp_key_missing', message, { facts: { server } })
}

function bounds({ signal, settings }: Pick<Asked, 'signal' | 'settings'>) {
  return { signal, ms: settings.timeout_ms }
}

/** What it tells of its tools is frozen, shown and hashed without what it was given. */
async function listTools(connection: McpConnection, asked: Asked & Given): Promise<readonly Tool[]> {
  return withoutSecrets(await asking(asked, () => connection.list(bounds(asked))), asked.secrets)
}

interface Given {
  readonly secrets: readonly string[]
}

function allowedTools(server: string, told: readonly Tool[], allowed: AllowedTools): readonly McpTool[] {
  const read = readToldTools(told, allowed)
  if ('tools' in read) return read.tools
  throw invalidFault(server, read.problem)
}

interface AskedCall {
  readonly name: string
  readonly settings: McpServerSettings
  readonly call: McpCall
}

/** The tool as the server tells of it now, which is the one that the run was frozen to. */
async function sameTool(connection: McpConnection, asked: AskedCall & Given): Promise<Tool> {
  const { name, settings, call, secrets } = asked
  const { tool, expected, signal } = call
  const told = await listTools(connection, { name, settings, signal, secrets })
  const raw = told.find((one) => one.name === tool)
  if (raw === undefined || !isAllowedTool(settings.tools, tool)) throw toolChangedFault(name, tool, expected, undefined)
  const [now] = allowedTools(name, told, [tool])
  if (now === undefined || toolHash(now) !== expected.hash) throw toolChangedFault(name, tool, expected, now)
  return raw
}

async function callOnce(
  connection: McpConnection,
  tool: Tool,
  { name, settings, call }: AskedCall,
): Promise<McpResult> {
  const { args, key, signal } = call
  signal.throwIfAborted()
  const sent = { args: { ...args }, key }
  const outcome = await connection.call(tool, sent, { signal, ms: settings.timeout_ms }).catch((error: unknown) => {
    throw callFault(name, tool.name, error, signal)
  })
  if ('refusal' in outcome) return { text: `The server refused the call: ${outcome.refusal}`, is_error: true }
  const read = readCallResult(outcome.answer)
  if (!('problem' in read)) return read
  throw lostFault(name, tool.name, read.problem)
}

/** Before a call is sent everything may be done again. */
async function asking<T>({ name, signal }: Pick<Asked, 'name' | 'signal'>, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    signal.throwIfAborted()
    throw error instanceof NoAnswer ? askFault(name, error) : error
  }
}

function askFault(server: string, { trouble, cause }: NoAnswer): Fault {
  switch (trouble.kind) {
    case 'refused':
      return refusedFault(server, trouble)
    case 'invalid':
    case 'rejected':
      return invalidFault(server, trouble.words, cause)
    default:
      return unavailableFault(server, trouble, cause)
  }
}

function callFault(server: string, tool: string, error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return lostFault(server, tool, 'the call was stopped before it came', signal.reason)
  if (!(error instanceof NoAnswer)) return error
  const { trouble, cause } = error
  if (trouble.kind === 'broken' || trouble.kind === 'invalid') return lostFault(server, tool, trouble.words, cause)
  return askFault(server, error)
}

function unavailableFault(server: string, { words, retry_after_ms }: Trouble, cause?: unknown): Fault {
  const message = `Cannot ask MCP server "${server}": ${words}. Is it running, and are mcp_servers.${server}.url or command, and timeout_ms, right?`
  const facts = { server, ...(retry_after_ms === undefined ? {} : { retry_after_ms }) }
  return new Fault('Unavailable', 'mcp_unavailable', message, { facts, cause })
}

function refusedFault(server: string, { words }: Trouble): Fault {
  const message = `MCP server "${server}" does not let us in: ${words}. Check mcp_servers.${server}.key and headers; servers that ask people to log in (OAuth) cannot be used.`
  return new Fault('Rejected', 'mcp_refused', message, { facts: { server } })
}

function invalidFault(server: string, words: string, cause?: unknown): Fault {
  const message = `Cannot use MCP server "${server}": ${words.replace(/\.$/, '')}. Ask whoever runs it, or name other tools under mcp_servers.${server}.tools.`
  return new Fault('InvalidInput', 'mcp_invalid', message, { facts: { server }, cause })
}

function lostFault(server: string, tool: string, words: string, cause?: unknown): Fault {
  const message = `The answer of tool "${tool}" of MCP server "${server}" was lost: ${words.replace(/\.$/, '')}. The call may have been done.`
  return new Fault('Unavailable', 'mcp_answer_lost', message, { facts: { server, tool }, cause })
}

/** A message may quote it; causes quote at length, and are left out. */
function faultWithout(secrets: readonly string[], error: unknown): unknown {
  if (!(error instanceof Fault) || secrets.length === 0) return error
  const message = withoutSecrets(error.message, secrets)
  const facts = withoutSecrets(error.facts, secrets)
  return new Fault(error.name, error.code, message, { facts, status: error.status })
}
