import type { ToolPin } from '../dag/dag.ts'
import { Fault } from '../errors.ts'
import { sha256 } from '../text/hash.ts'
import { canonicalJson, type Json } from '../text/json.ts'
import { redactSecrets, safeOneLine } from '../text/redact.ts'
import type { McpTool } from './mcp-port.ts'

/** Hex sha256 of what a tool says of itself, to the letter: with it a run is frozen to the tool it began with. */
export function toolHash({ name, description, input_schema }: McpTool): string {
  return sha256(canonicalJson({ name, description, input_schema }))
}

/**
 * What of a server's tool a run is pinned to. The hash is of the description as it was told; kept and shown to models is
 * what people see of it: no character that hides on a screen.
 */
export function mcpToolPin(tool: McpTool): ToolPin {
  return {
    description: visibleText(tool.description),
    input_schema: visibleSchema(tool.input_schema),
    hash: toolHash(tool),
  }
}

/** A schema talks to models as well: in what it describes and titles. */
function visibleSchema(value: Json): Json {
  if (Array.isArray(value)) return value.map((item: Json) => visibleSchema(item))
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).map(([key, item]): [string, Json] => {
    const isWords = (key === 'description' || key === 'title') && typeof item === 'string'
    return [key, isWords ? visibleText(item) : visibleSchema(item)]
  })
  return Object.fromEntries(members)
}

/**
 * Marks that have no width or turn text around, and the tag characters that spell words nobody sees: with them a
 * description says one thing to a model and another to the person who reads it.
 */
const HIDDEN = /\p{Cf}|\p{Variation_Selector}|[\u{e0000}-\u{e007f}]/gu
/** Tabs and line breaks stay. */
const CONTROL = /(?![\t\n])\p{Cc}/gu

function visibleText(text: string): string {
  return text.toWellFormed().replaceAll('\r\n', '\n').replace(HIDDEN, '').replace(CONTROL, ' ')
}

type Pinned = Pick<ToolPin, 'description' | 'input_schema' | 'hash'>

/**
 * Why a tool that a run was frozen to may not be called any more: its server tells of another one. Fault Rejected
 * tool_changed, whose facts hold what it said and says, cut and without what looks like a secret.
 */
export function toolChangedFault(server: string, name: string, pinned: Pinned, now: McpTool | undefined): Fault {
  const before = { description: shown(pinned.description), input_schema: shown(canonicalJson(pinned.input_schema)) }
  const fix = 'Look at the tool; where it is what you want, start the run anew: it is frozen to the tool of today.'
  const place = `Cannot call tool "${name}" of MCP server "${server}"`
  if (now === undefined) {
    const message = `${place}: this run began with it, and the server does not tell of it any more (or mcp_servers.${server}.tools does not name it). ${fix}`
    return new Fault('Rejected', 'tool_changed', message, { facts: { server, tool: name, before } })
  }
  const after = {
    description: shown(visibleText(now.description)),
    input_schema: shown(canonicalJson(visibleSchema(now.input_schema))),
  }
  const message = `${place}: ${difference(pinned, now)}. ${fix}`
  return new Fault('Rejected', 'tool_changed', message, { facts: { server, tool: name, before, after } })
}

/** Of a text in facts: whole descriptions are at most as long (shared/tools/mcp-answers.ts), schemas may be longer. */
const MOST_SHOWN = 4_000

function shown(text: string): string {
  const safe = redactSecrets(text)
  return safe.length <= MOST_SHOWN ? safe : `${safe.slice(0, MOST_SHOWN).toWellFormed()}… (${safe.length} characters)`
}

/** What of it is another one, with both texts from where they part. */
function difference(pinned: Pinned, now: McpTool): string {
  const [was, is] = [pinned.description, visibleText(now.description)]
  if (was !== is)
    return `its description changed since this run began: it was ${fromWhere(was, is)}, it is ${fromWhere(is, was)}`
  const [had, has] = [canonicalJson(pinned.input_schema), canonicalJson(visibleSchema(now.input_schema))]
  if (had !== has)
    return `its input schema changed since this run began: it was ${fromWhere(had, has)}, it is ${fromWhere(has, had)}`
  return 'its description changed since this run began in characters that no screen shows'
}

/** A few words before the first character that differs are enough to find it. */
const BEFORE = 40
const WORDS = 160

function fromWhere(text: string, other: string): string {
  let at = 0
  while (at < text.length && text[at] === other[at]) at += 1
  const start = Math.max(0, at - BEFORE)
  const part = safeOneLine(redactSecrets(text).slice(start), WORDS)
  return `"${start === 0 ? '' : '…'}${part}"`
}
