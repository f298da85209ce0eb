import * as z from 'zod'
import type { ToolUse } from '../dag/dag.ts'
import { LIMITS } from '../limits.ts'
import { httpUrl, KeySchema } from '../ports/secrets.ts'

/** Servers a place may name. */
const MOST_SERVERS = 50
/** Tools of one that are named. */
const MOST_NAMED = 200
/** Of one request, where the settings do not say. */
const DEFAULT_TIMEOUT_MS = 60_000

/** What a document calls by `NAME.tool` already. */
const TAKEN = ['artifact', 'ask_person', 'dag', 'graph', 'table']

/** The protocol's own rule (revision 2025-11-25, "Tool names"), and so no character that hides. */
export const TOOL_NAME = /^[A-Za-z0-9_./-]{1,128}$/

const serverName = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/, 'a letter, then letters, digits, "_" and "-", 64 at most')
  .refine((name) => !TAKEN.includes(name), `a name that no tool of ours begins with: not ${TAKEN.join(', ')}`)

const toolName = z.string().regex(TOOL_NAME, 'the name of a tool: letters, digits, "_", "-", "." and "/", 128 at most')

const AllowedSchema = z.union(
  [z.array(toolName).min(1).max(MOST_NAMED), z.strictObject({ all: z.literal(true) })],
  'a list of names of tools, or {all: true} for whatever the server tells of',
)
export type AllowedTools = z.infer<typeof AllowedSchema>

/** Written by the client of the protocol, by HTTP, or by Sluice. */
const RESERVED =
  /^(accept|authorization|connection|content-.*|cookie|host|last-event-id|mcp-.*|transfer-encoding|user-agent)$/i

const headerName = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9-]{0,63}$/, 'the name of a header')
  .refine((name) => !RESERVED.test(name), 'a header that is not written already; for Authorization give key')

/** Encrypted, unless it stays on this machine or the operator says that the network is his. */
const ENCRYPTED = /^(https:|http:\/\/(127\.0\.0\.1|localhost|\[::1\])(:\d+)?(\/|$|\?))/

const ServerSchema = z
  .strictObject({
    /** Where a server of streamable HTTP listens. */
    url: httpUrl.optional(),
    /** It is of a private network, and may be asked over http. Only in the local place. */
    private: z.boolean().default(false),
    /** Sent as `Authorization: Bearer KEY`. */
    key: KeySchema.optional(),
    /** Further headers: each value by reference. */
    headers: z
      .record(headerName, KeySchema)
      .refine((all) => Object.keys(all).length <= 10, 'at most 10 headers')
      .default({}),
    /** The command of a server of stdio and its arguments, started in the folder of sluice.yaml; no shell reads it. */
    command: z.array(z.string().min(1).max(1_000)).min(1).max(50).optional(),
    /** Names of variables of this place's environment that it is given: it has no others. */
    env: z
      .array(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/, 'the name of an environment variable'))
      .max(50)
      .default([]),
    /** Of one request of a call; there are some more before it. */
    timeout_ms: z.int().min(1).max(LIMITS.timeout_ms).default(DEFAULT_TIMEOUT_MS),
    tools: AllowedSchema,
    /** `trusted`: what its tools give is shown to models as it is, and taints nothing. */
    trust: z.enum(['untrusted', 'trusted']).default('untrusted'),
    /** What its tools do; `write` where nothing is said. */
    effects: z.record(toolName, z.enum(['read', 'write'])).default({}),
    /** Those of its tools that do twice with the same key what they do once. */
    idempotent: z.array(toolName).max(MOST_NAMED).default([]),
  })
  .superRefine((server, context) => {
    for (const { path, message } of serverProblems(server))
      context.addIssue({ code: 'custom', path: [...path], message })
  })
export type McpServerSettings = z.infer<typeof ServerSchema>

/** `mcp_servers` in sluice.yaml: whose tools agents may be given (docs/agents.md, "Tool sources"). */
export const McpServersSettingsSchema = z
  .record(serverName, ServerSchema)
  .refine((all) => Object.keys(all).length <= MOST_SERVERS, `at most ${MOST_SERVERS} servers`)
export type McpServersSettings = z.infer<typeof McpServersSettingsSchema>

interface Problem {
  readonly path: readonly string[]
  readonly message: string
}

type Given = z.infer<typeof ServerSchema>

function serverProblems(server: Given): readonly Problem[] {
  const { url, command, tools, effects, idempotent } = server
  const named: readonly (readonly [string, string])[] = [
    ...Object.keys(effects).map((name) => ['effects', name] as const),
    ...idempotent.map((name) => ['idempotent', name] as const),
  ]
  const strangers = named
    .filter(([, name]) => !isAllowedTool(tools, name))
    .map(([key, name]) => ({ path: [key], message: `names "${name}", which tools does not allow; add it there` }))
  if ((url === undefined) === (command === undefined)) {
    const seen = url === undefined ? 'has neither url nor command' : 'has both url and command'
    const message = `${seen}: give url: https://.. for a server of streamable HTTP, or command: [..] for one of stdio`
    return [{ path: [], message }, ...strangers]
  }
  return [...(url === undefined ? commandProblems(server) : urlProblems(server, url)), ...strangers]
}

function urlProblems({ private: own, env }: Given, url: string): readonly Problem[] {
  const isOpen = !own && !ENCRYPTED.test(url)
  const message =
    'https, or http on 127.0.0.1, localhost or [::1], or http with private: true for a server of your own network'
  const given = 'is of a server with command: one with url is given nothing but key and headers'
  return [
    ...(isOpen ? [{ path: ['url'], message }] : []),
    ...(env.length > 0 ? [{ path: ['env'], message: given }] : []),
  ]
}

function commandProblems({ key, headers, private: own }: Given): readonly Problem[] {
  const message = 'is of a server with url: one with command gets its secrets by env: [NAME, ..]'
  const given = { key: key !== undefined, headers: Object.keys(headers).length > 0, private: own }
  return Object.entries(given).flatMap(([name, is]) => (is ? [{ path: [name], message }] : []))
}

/** The settings of a server; undefined = the operator named none so. */
export function findMcpServer(servers: McpServersSettings, name: string): McpServerSettings | undefined {
  return Object.hasOwn(servers, name) ? servers[name] : undefined
}

export function isAllowedTool(allowed: AllowedTools, name: string): boolean {
  return 'all' in allowed || allowed.includes(name)
}

/** `crm.find_customer`: no name of a server has a dot, names of tools may. */
export function readMcpUse(use: string): { readonly server: string; readonly tool: string } {
  const dot = use.indexOf('.')
  return { server: use.slice(0, dot), tool: use.slice(dot + 1) }
}

/**
 * What the operator says of a server's tool, for a document that does not. What the server says of itself (`readOnlyHint`
 * and its like) is not asked: it would decide for itself whether a person is asked (docs/adr/0077).
 */
export function mcpToolRules(
  servers: McpServersSettings,
  use: string,
): Pick<ToolUse, 'effect' | 'idempotent' | 'untrusted'> {
  const { server, tool } = readMcpUse(use)
  const found = findMcpServer(servers, server)
  if (found === undefined) return { effect: 'write', idempotent: false, untrusted: true }
  const effect = Object.hasOwn(found.effects, tool) ? found.effects[tool] : undefined
  return {
    effect: effect ?? 'write',
    idempotent: found.idempotent.includes(tool),
    untrusted: found.trust === 'untrusted',
  }
}

/** Every secret it is sent, by its place in the settings. */
export function mcpKeys({ key, headers }: Pick<McpServerSettings, 'key' | 'headers'>) {
  return [
    ...(key === undefined ? [] : [{ path: 'key', header: 'authorization', key }]),
    ...Object.entries(headers).map(([name, ref]) => ({
      path: `headers.${name}`,
      header: name.toLowerCase(),
      key: ref,
    })),
  ]
}
