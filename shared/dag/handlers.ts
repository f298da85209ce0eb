import * as z from 'zod'
import { COLUMN_TYPES, TABLE_LIMITS } from '../table/columns.ts'
import { SEPARATORS } from '../table/delimited-text.ts'
import { TABLE_FORMATS, type TableFormat } from '../table/read-rows.ts'
import { ENCODINGS } from '../text/encodings.ts'
import type { PortType } from './dag.ts'
import { ServiceRequestSchema } from './service-request.ts'
import { TaskStatusSchema } from './task-status.ts'

export const ArtifactNameSchema = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._/-]{0,199}$/, 'letters, digits, . _ / -; at most 200, no ".."')
  .refine((name) => !name.includes('..'), 'no ".."')
  .refine((name) => name.split('/').every((part) => part !== '' && part !== '.'), 'no empty part, no part "."')

/** A path below the inputs folder; a template, so that an input can name the file. */
const PathSchema = z.string().min(1).max(400)

/** By its name or as it is: `separatorSign` answers the sign. */
const SeparatorSchema = z.enum([...Object.keys(SEPARATORS), ...Object.values(SEPARATORS)])
const FormulasSchema = z.enum(['escape', 'keep'])
const ColumnTypeSchema = z.enum(COLUMN_TYPES)
const ColumnRuleSchema = z.union(
  [ColumnTypeSchema, z.strictObject({ type: ColumnTypeSchema.optional(), required: z.boolean().optional() })],
  `it must be ${COLUMN_TYPES.join(', ')}, or { type, required }`,
)
const ColumnNameSchema = z.string().min(1).max(TABLE_LIMITS.name_characters)

/**
 * The deterministic handlers a DAG may name, with the schema of their `config` (data only: the code is one file each
 * in functions/attempts/handlers/). The table keeps `check` and the runtime from ever knowing different names.
 */
export const HANDLERS = {
  /** Passes inputs through to outputs of the same name. */
  pass: z.strictObject({}),
  /** JSONata over {inputs}; a single output takes the whole answer, several take its members. */
  transform: z.strictObject({ expression: z.string().min(1).max(4_000) }),
  /** Reads `path` (below inputs_dir) or the object ref in input `file` into the one output. */
  'read-input': z.strictObject({ path: PathSchema.optional() }),
  /** Stores input `body` (or the one input) as artifact `name`; outputs: the object ref. */
  'write-artifact': z.strictObject({
    name: ArtifactNameSchema,
    media_type: z.string().max(100).optional(),
  }),
  /** Reads rows by the names of their columns, of `path`, input `file` or input `table` (docs/dag.md, "Tables"). */
  'read-table': z.strictObject({
    path: PathSchema.optional(),
    format: z.enum(TABLE_FORMATS).optional(),
    separator: SeparatorSchema.optional(),
    encoding: z.enum(ENCODINGS).optional(),
    columns: z.record(ColumnNameSchema, ColumnRuleSchema).optional(),
    strict: z.boolean().optional(),
    formulas: FormulasSchema.optional(),
  }),
  /** Stores the rows of input `rows` (or the one input) as artifact `name`; outputs: the object ref. */
  'write-table': z.strictObject({
    name: ArtifactNameSchema,
    format: z.enum(TABLE_FORMATS).optional(),
    separator: SeparatorSchema.optional(),
    columns: z
      .array(ColumnNameSchema)
      .min(1)
      .max(TABLE_LIMITS.columns)
      .refine((names) => new Set(names).size === names.length, 'a column is named twice')
      .optional(),
    line_end: z.enum(['lf', 'crlf']).optional(),
    bom: z.boolean().optional(),
    formulas: FormulasSchema.optional(),
  }),
  /** Asks a service that the operator named in the settings (docs/dag.md, "http"). */
  http: ServiceRequestSchema,
  /** Descriptive statistics with confidence intervals of the table in input `table` (JSON rows or CSV text). */
  'table-stats': z.strictObject({
    columns: z.array(z.string()).min(1).max(50).optional(),
    confidence: z.union([z.literal(0.9), z.literal(0.95), z.literal(0.99)]).optional(),
    /** A column: the same statistics for the rows of each of its values (at most 200). */
    group_by: z.string().optional(),
  }),
  /** Fits and cross-validates a model that tells `label` = `positive` by other columns of input `table`. */
  'classify-table': z.strictObject({
    label: z.string().min(1).max(200),
    positive: z.string().min(1).max(200),
    columns: z.array(z.string()).min(1).max(50).optional(),
    folds: z.int().min(2).max(20).default(5),
    /** Keeps the model under this name in the run. */
    artifact: ArtifactNameSchema.optional(),
  }),
  /** A name of OpenSkelo's: the input `content_from` becomes an artifact under a path of the run. */
  'builtin:write-file': z.strictObject({
    content_from: z.string().max(64).optional(),
    path_from: z.string().max(64).optional(),
    default_path_template: z.string().min(1).max(200).default('output-{timestamp}.txt'),
    timestamp_format: z
      .string()
      .regex(/^(?:YYYY|MM|DD|HH|mm|ss|[-_.T])+$/, 'it is made of YYYY, MM, DD, HH, mm, ss and - _ . T')
      .max(40)
      .default('YYYYMMDD-HHmmss'),
    mkdir: z.boolean().optional(),
    overwrite: z.boolean().default(false),
  }),
  /** Moves the run's task to a status, past the gates of its pipeline (docs/task-gates.md). */
  'move-task': z.strictObject({ to: TaskStatusSchema }),
  /** Sends an event of outside to blocks that wait for it: the inputs, or what the expression makes of them. */
  'send-event': z.strictObject({
    name: z
      .string()
      .regex(/^[A-Za-z][A-Za-z0-9_.:/-]{0,127}$/, 'a letter, then letters, digits and _ . : / -, 128 at most'),
    key: z.string().min(1).max(256).optional(),
    payload_expression: z.string().min(1).max(4_000).optional(),
    expires_in: z.union([z.string().regex(/^(?:\d{1,9}[smhd])+$/, 'as 90s, 2h or 30d'), z.int().min(1)]).optional(),
  }),
  /** The deterministic verifier of a run's claims (docs/goal-gates.md, "Trust"). */
  'verify-claims': z.strictObject({}),
} as const

export type HandlerName = keyof typeof HANDLERS

/** Whether a handler is a file of the project: code that runs in a process or function of its own (docs/steps.md). */
export function isStepPath(handler: string): boolean {
  return handler.startsWith('./')
}

/** A path of a module or program: below the folder of sluice.yaml, in one way of writing it. */
export const STEP_PATH = /^\.\/(?:[A-Za-z0-9_][A-Za-z0-9_.-]*\/)*[A-Za-z0-9_][A-Za-z0-9_.-]*$/

/** Handlers that do nothing but answer: done twice, or for nothing, they leave no trace. */
export const PURE_HANDLERS: ReadonlySet<string> = new Set<HandlerName>(['pass', 'transform'])

/**
 * Handlers that do more than their inputs and outputs show. A retried run that takes their outputs over takes the
 * artifacts along that they left; what changes its run's context, or looks at its run, is done again and never cached.
 */
export const HANDLERS_BEYOND_PORTS: Readonly<Partial<Record<string, 'artifacts' | 'run'>>> = {
  'write-artifact': 'artifacts',
  'write-table': 'artifacts',
  'classify-table': 'artifacts',
  'builtin:write-file': 'artifacts',
  'move-task': 'run',
  'send-event': 'run',
  'verify-claims': 'run',
} satisfies Partial<Record<HandlerName, 'artifacts' | 'run'>>

/** Types of ports a handler takes and fills, checked with the document. */
export interface HandlerPorts {
  /** Of inputs by these names, where there are such. */
  readonly inputs?: Readonly<Record<string, readonly PortType[]>>
  /** `one`: exactly one, beside those in `beside`, which have types of their own; `may_be_none`: or none; else at least one. */
  readonly outputs: {
    readonly types: readonly PortType[]
    readonly one?: true
    readonly may_be_none?: true
    readonly beside?: Readonly<Record<string, readonly PortType[]>>
  }
}

/** Of handlers that cannot work with any ports; what the others find wrong they say when they run. */
export const HANDLER_PORTS: Readonly<Partial<Record<string, HandlerPorts>>> = {
  'read-input': { outputs: { types: ['string', 'json', 'file', 'artifact'], one: true } },
  'read-table': {
    inputs: { file: ['file', 'artifact', 'string', 'json'], table: ['string', 'json', 'file', 'artifact'] },
    outputs: { types: ['json'], one: true, beside: { columns: ['json'] } },
  },
  'write-table': { inputs: { rows: ['json'], columns: ['json'] }, outputs: { types: ['file', 'artifact'] } },
  http: {
    outputs: {
      types: ['json', 'string'],
      one: true,
      may_be_none: true,
      beside: { status: ['number', 'json'], headers: ['json'] },
    },
  },
} satisfies Partial<Record<HandlerName, HandlerPorts>>

/** The format of a table that is written: as said, else by the ending of its name; CSV where that says nothing. */
export function writtenFormat({
  name = '',
  format,
}: {
  readonly name?: unknown
  readonly format?: unknown
}): TableFormat {
  const ending = String(name)
    .slice(String(name).lastIndexOf('.') + 1)
    .toLowerCase()
  return TABLE_FORMATS.find((known) => known === format) ?? formatOfEnding(ending) ?? 'csv'
}

/** What the ending of a file's name says of its format. */
export function formatOfEnding(ending: string): TableFormat | undefined {
  return Object.hasOwn(ENDINGS, ending) ? ENDINGS[ending] : undefined
}

const ENDINGS: Readonly<Record<string, TableFormat>> = {
  csv: 'csv',
  tsv: 'tsv',
  tab: 'tsv',
  ndjson: 'ndjson',
  jsonl: 'ndjson',
  json: 'json',
}

export type HandlerConfig<N extends HandlerName> = z.infer<(typeof HANDLERS)[N]>
