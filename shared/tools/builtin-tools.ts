import * as z from 'zod'
import type { OutputPort, ToolUse } from '../dag/dag.ts'
import { ArtifactNameSchema } from '../dag/handlers.ts'
import type { Json } from '../text/json.ts'

/** A tool of ours: what a model is told of it, and what its arguments are judged by. */
export interface BuiltinTool {
  readonly description: string
  /** A JSON Schema of an object. */
  readonly input_schema: Json
  readonly effect: ToolUse['effect']
  /** What it gives was written by others. */
  readonly untrusted: boolean
  readonly outputs: Readonly<Record<string, OutputPort>>
}

/** What a model is shown, and the same as data. */
export interface BuiltinAnswer {
  readonly text: string
  readonly structured?: Json
  /** It holds what an agent wrote that had read what others wrote. */
  readonly tainted?: true
}

/** What of an answer a model is shown at once: it may ask for the next part. */
export const BUILTIN_LIMITS = {
  hits: 20,
  statements: 200,
  text_characters: 50_000,
  rows: 200,
  answer_characters: 100_000,
} as const

const TEXT: BuiltinTool['outputs'] = { text: { type: 'string', required: true } }
const TEXT_AND_DATA: BuiltinTool['outputs'] = { ...TEXT, structured: { type: 'json', required: false } }

const words = (description: string, most: number) => z.string().min(1).max(most).describe(description)
const upTo = (most: number, usual: number, of: string) =>
  z.int().min(1).max(most).default(usual).describe(`${of}, at most ${most}`)
const offset = (of: string) => z.int().min(0).max(100_000_000).default(0).describe(`${of} to leave out at the start`)

const scalar = z.union([z.string().max(1_000), z.number(), z.boolean(), z.null()])

/** What the arguments of each may be. */
export const BUILTIN_ARGUMENTS = {
  'graph.search': z.strictObject({
    query: words('What to look for: words, or "quoted words" that must stand together', 1_000),
    type: words('Only entities of this type', 100).optional(),
    domain: words('Only entities of this domain, the third segment of an id', 100).optional(),
    limit: upTo(BUILTIN_LIMITS.hits, 8, 'Hits'),
  }),
  'graph.read': z.strictObject({
    id: words('The id of an entity, as graph.search gives it', 256),
    offset: offset('Statements'),
    limit: upTo(BUILTIN_LIMITS.statements, 50, 'Statements'),
  }),
  'artifact.read': z.strictObject({
    name: words('The name of a file of this run', 256),
    offset: offset('Characters'),
    limit: upTo(BUILTIN_LIMITS.text_characters, 20_000, 'Characters'),
  }),
  'artifact.write': z.strictObject({
    name: ArtifactNameSchema.describe('A name such as report.md or tables/prices.csv'),
    text: z.string().max(1_000_000).describe('Its whole text'),
    media_type: z
      .string()
      .regex(/^[a-z]+\/[a-z0-9.+-]{1,80}$/, 'a media type such as text/markdown')
      .optional()
      .describe('Such as text/markdown; without it by the ending of the name'),
  }),
  'table.query': z.strictObject({
    artifact: words('The name of a file of this run: CSV, TSV, NDJSON or a JSON list of objects', 256).optional(),
    input: words('The name of an input of this block that holds a table', 64).optional(),
    where: z
      .array(
        z.strictObject({
          column: words('A column', 200),
          is: z.enum(['=', '!=', '<', '<=', '>', '>=', 'contains', 'empty']).default('='),
          value: scalar.optional(),
        }),
      )
      .max(20)
      .default([])
      .describe('Only rows for which all of these hold; numbers are compared as numbers'),
    expression: words('Instead of where, columns and sort: JSONata over {rows}, a list of objects', 2_000).optional(),
    columns: z.array(words('A column', 200)).min(1).max(100).optional().describe('Only these columns'),
    sort: z
      .strictObject({ column: words('A column', 200), descending: z.boolean().default(false) })
      .optional()
      .describe('Rows by this column'),
    offset: offset('Rows'),
    limit: upTo(BUILTIN_LIMITS.rows, 20, 'Rows'),
  }),
  ask_person: z.strictObject({
    question: words('What you want to know', 2_000),
    fields: z
      .array(
        z.strictObject({
          name: z.string().regex(/^[A-Za-z][A-Za-z0-9_]{0,63}$/, 'a letter, then letters, digits and "_"'),
          type: z.enum(['string', 'number', 'boolean']),
          label: words('What people read beside it', 200).optional(),
        }),
      )
      .min(1)
      .max(20)
      .optional()
      .describe('A form to fill in; without it the answer is a text'),
  }),
} as const

export type BuiltinName = keyof typeof BUILTIN_ARGUMENTS
/** Arguments of one, judged. */
export type BuiltinArguments<N extends BuiltinName> = z.output<(typeof BUILTIN_ARGUMENTS)[N]>

function tool(name: BuiltinName, told: Omit<BuiltinTool, 'input_schema'>): BuiltinTool {
  let schema: Json | undefined
  return {
    ...told,
    // Made when somebody asks: most processes never do.
    get input_schema() {
      // A JSON Schema is JSON.
      schema ??= withoutDialect(z.toJSONSchema<z.ZodType>(BUILTIN_ARGUMENTS[name], { io: 'input' })) as Json
      return schema
    },
  }
}

function withoutDialect({ $schema: _, ...schema }: Readonly<Record<string, unknown>>) {
  return schema
}

/** Tools of ours, by the name documents give them (docs/agents.md, "Tool sources"). None of them changes anything outside the run. */
export const BUILTIN_TOOLS: Readonly<Record<string, BuiltinTool>> = {
  'graph.search': tool('graph.search', {
    description:
      'Searches the knowledge graph by words. Each hit has the id of an entity, its name and type, and the passage that fits best. Read one with graph.read.',
    effect: 'read',
    untrusted: false,
    outputs: TEXT_AND_DATA,
  }),
  'graph.read': tool('graph.read', {
    description:
      'Reads an entity of the knowledge graph by its id: its names, type and time, and what is stated of it, each statement with its source.',
    effect: 'read',
    untrusted: false,
    outputs: TEXT_AND_DATA,
  }),
  'artifact.read': tool('artifact.read', {
    description:
      'Reads a file of this run by its name, a part at a time. A name that is not there is answered with those that are.',
    effect: 'read',
    untrusted: false,
    outputs: TEXT,
  }),
  'artifact.write': tool('artifact.write', {
    description:
      'Writes a text as a file of this run, for people and for later blocks. A file of the same name is replaced.',
    effect: 'read',
    untrusted: false,
    outputs: TEXT,
  }),
  'table.query': tool('table.query', {
    description:
      'Reads rows of a table: a file of this run, or an input of this block. Choose rows and columns and their order, or write a JSONata expression for sums and groups. Says how many rows there are in all.',
    effect: 'read',
    untrusted: false,
    outputs: TEXT_AND_DATA,
  }),
  ask_person: tool('ask_person', {
    description:
      'Asks a person a question and waits for the answer, which may take days. Ask only what you cannot find out.',
    effect: 'read',
    untrusted: false,
    outputs: { answer: { type: 'json', required: true } },
  }),
}

export function isBuiltinTool(use: string): use is BuiltinName {
  return Object.hasOwn(BUILTIN_TOOLS, use)
}
