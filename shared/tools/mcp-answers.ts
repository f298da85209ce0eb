import * as z from 'zod'
import type { Json } from '../text/json.ts'
import { safeOneLine } from '../text/redact.ts'
import { listed, quoted } from '../text/wording.ts'
import type { McpResult, McpTool } from './mcp-port.ts'
import { type AllowedTools, isAllowedTool, TOOL_NAME } from './settings.ts'

/** What of a server's words is taken. */
export const MCP_LIMITS = {
  /** Of one answer as it comes, images and all. */
  answer_bytes: 8 * 1_024 * 1_024,
  /** Of the text of one result; the rest is cut, and the text says so. */
  text_characters: 1_048_576,
  /** Of `structuredContent` as JSON; what is larger is left out, and the text says so. */
  structured_characters: 1_048_576,
  /** Tools a server may tell of, allowed or not. */
  tools: 2_000,
  description_characters: 4_000,
  schema_characters: 65_536,
} as const

/** Tools, or why what was told is none of ours, without the name of who told it. */
type ReadTools = { readonly tools: readonly McpTool[] } | { readonly problem: string }

const ToldToolSchema = z.object({
  name: z.string(),
  description: z.string().default(''),
  inputSchema: z.record(z.string(), z.json()),
})

/**
 * Those of the told tools that the settings allow, in the order they were told. What a server says besides (titles,
 * annotations, icons) is left out: a claim of its own that a tool only reads changes nothing here.
 */
export function readToldTools(told: readonly unknown[], allowed: AllowedTools): ReadTools {
  if (told.length > MCP_LIMITS.tools) {
    return { problem: `it tells of ${told.length} tools; the limit is ${MCP_LIMITS.tools}` }
  }
  const tools: McpTool[] = []
  for (const one of told) {
    const name = nameOf(one)
    if (!isAllowedTool(allowed, name)) continue
    const problem = tools.some((tool) => tool.name === name) ? `it tells of ${quoted(name)} twice` : undefined
    const read = problem === undefined ? readTool(name, one) : { problem }
    if ('problem' in read) return read
    tools.push(read.tool)
  }
  const missing = 'all' in allowed ? [] : allowed.filter((name) => !tools.some((tool) => tool.name === name))
  return missing.length === 0 ? { tools } : { problem: missingTools(missing, told.map(nameOf)) }
}

/** With `all: true` a name that is none must be told, not left out in silence. */
function nameOf(told: unknown): string {
  const { name } = (typeof told === 'object' && told !== null ? told : {}) as { readonly name?: unknown }
  return typeof name === 'string' ? name : ''
}

function readTool(name: string, told: unknown): { readonly tool: McpTool } | { readonly problem: string } {
  if (!TOOL_NAME.test(name)) {
    const fix = 'Name the tools you want under tools'
    return { problem: `it tells of a tool ${quoted(name)}, which is no name of letters, digits and "_-./". ${fix}` }
  }
  const parsed = ToldToolSchema.safeParse(told)
  const place = `what it tells of ${quoted(name)}`
  if (!parsed.success) return { problem: `${place} does not fit the protocol: ${firstIssue(parsed.error)}` }
  const { description, inputSchema } = parsed.data
  if (inputSchema.type !== 'object') return { problem: `${place} has an input schema whose type is not "object"` }
  if (description.length > MCP_LIMITS.description_characters) {
    return {
      problem: `${place} has ${description.length} characters; the limit is ${MCP_LIMITS.description_characters}`,
    }
  }
  const schema = JSON.stringify(inputSchema)
  if (schema.length > MCP_LIMITS.schema_characters) {
    return {
      problem: `the input schema of ${quoted(name)} has ${schema.length} characters; the limit is ${MCP_LIMITS.schema_characters}`,
    }
  }
  // JSON.stringify writes half a character as its escape.
  if (!description.isWellFormed() || /\\ud[89a-f]/i.test(schema)) return { problem: `${place} holds half a character` }
  return { tool: { name, description, input_schema: inputSchema } }
}

function firstIssue({ issues }: z.ZodError): string {
  const [issue] = issues
  return `${issue?.path.join('.') ?? ''}: ${safeOneLine(issue?.message ?? 'it does not fit', 120)}`
}

function missingTools(missing: readonly string[], told: readonly string[]): string {
  const names = told.map((name) => safeOneLine(name, 64))
  return `it does not tell of ${listed(missing)}, which the settings name; it tells of ${listed(names)}`
}

const PartSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({ type: z.enum(['image', 'audio']), data: z.string(), mimeType: z.string().default('') }),
  z.object({ type: z.literal('resource_link'), uri: z.string(), name: z.string().default('') }),
  z.object({
    type: z.literal('resource'),
    resource: z.object({
      uri: z.string(),
      mimeType: z.string().optional(),
      text: z.string().optional(),
      blob: z.string().optional(),
    }),
  }),
])
type Part = z.infer<typeof PartSchema>

const ResultSchema = z.object({
  content: z.array(z.unknown()).max(10_000).default([]),
  structuredContent: z.json().optional(),
  isError: z.boolean().default(false),
})

/** What a call came to, or why what was answered is no result. */
export function readCallResult(answer: unknown): McpResult | { readonly problem: string } {
  const parsed = ResultSchema.safeParse(answer)
  if (!parsed.success) return { problem: `its result does not fit the protocol: ${firstIssue(parsed.error)}` }
  const { content, structuredContent, isError } = parsed.data
  const { structured, note } = readStructured(structuredContent)
  const parts = [...content.map(partText), ...(note === undefined ? [] : [note])]
  return {
    text: cut(parts.join('\n').toWellFormed()),
    ...(structured === undefined ? {} : { structured }),
    is_error: isError,
  }
}

/** Half a character is in no canonical JSON, and what is stored is one. */
function readStructured(value: Json | undefined): { readonly structured?: Json; readonly note?: string } {
  if (value === undefined) return {}
  const text = JSON.stringify(value)
  if (text.length > MCP_LIMITS.structured_characters) {
    return {
      note: `[structured content of ${text.length} characters, left out: the limit is ${MCP_LIMITS.structured_characters}]`,
    }
  }
  const whole: Json = /\\ud[89a-f]/i.test(text)
    ? JSON.parse(text.replaceAll(/\\ud[89a-f][\da-f]{2}/gi, '\\ufffd'))
    : value
  return { structured: whole }
}

function partText(part: unknown): string {
  const parsed = PartSchema.safeParse(part)
  return parsed.success ? wordsOf(parsed.data) : '[a part of a kind that is not known]'
}

function wordsOf(part: Part): string {
  switch (part.type) {
    case 'text':
      return part.text
    case 'image':
    case 'audio':
      return `[${safeOneLine(part.mimeType, 80) || part.type}, ${sized(part.data)}]`
    case 'resource_link':
      return `[link to ${safeOneLine(part.name, 200) || 'a resource'}: ${safeOneLine(part.uri, 500)}]`
    case 'resource': {
      const { uri, mimeType = '', text, blob = '' } = part.resource
      if (text !== undefined) return text
      return `[${safeOneLine(uri, 500)}, ${safeOneLine(mimeType, 80) || 'no media type'}, ${sized(blob)}]`
    }
  }
}

/** Of base64. */
function sized(data: string): string {
  const bytes = Math.floor((data.replace(/=+$/, '').length * 3) / 4)
  if (bytes < 1_000) return `${bytes} bytes`
  return bytes < 1_000_000 ? `${Math.round(bytes / 1_000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`
}

function cut(text: string): string {
  if (text.length <= MCP_LIMITS.text_characters) return text
  return `${text.slice(0, MCP_LIMITS.text_characters).toWellFormed()}\n[cut: it has ${text.length} characters, the limit is ${MCP_LIMITS.text_characters}]`
}
