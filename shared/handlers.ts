import * as z from 'zod'
import { TaskStatusSchema } from './tasks/task.ts'

/**
 * The deterministic handlers a DAG may name, with the schema of their `config` (data only: the code is one file each
 * in functions/blocks/handlers/). The table keeps `check` and the runtime from ever knowing different names.
 */
export const HANDLERS = {
  /** Passes inputs through to outputs of the same name. */
  pass: z.strictObject({}),
  /** JSONata over {inputs}; a single output takes the whole answer, several take its members. */
  transform: z.strictObject({ expression: z.string().min(1).max(4_000) }),
  /** Reads `path` (below inputs_dir) or the object ref in input `file` into the one output. */
  'read-input': z.strictObject({ path: z.string().min(1).max(400).optional() }),
  /** Stores input `body` (or the one input) as artifact `name`; outputs: the object ref. */
  'write-artifact': z.strictObject({
    name: z
      .string()
      .regex(/^[A-Za-z0-9][A-Za-z0-9._/-]{0,199}$/, 'letters, digits, . _ / -; at most 200, no ".."')
      .refine((name) => !name.includes('..'), 'no ".."')
      .refine((name) => name.split('/').every((part) => part !== '' && part !== '.'), 'no empty part, no part "."'),
    media_type: z.string().max(100).optional(),
  }),
  /** Descriptive statistics with confidence intervals of the table in input `table` (JSON rows or CSV text). */
  'table-stats': z.strictObject({
    columns: z.array(z.string()).min(1).max(50).optional(),
    confidence: z.union([z.literal(0.9), z.literal(0.95), z.literal(0.99)]).optional(),
    /** A column: the same statistics for the rows of each of its values (at most 200). */
    group_by: z.string().optional(),
  }),
  /** A name of OpenSkelo's: the input `content_from` becomes an artifact under a path of the run. */
  'builtin:write-file': z.strictObject({
    content_from: z.string().max(64).optional(),
    path_from: z.string().max(64).optional(),
    default_path_template: z.string().min(1).max(200).default('output-{timestamp}.txt'),
    mkdir: z.boolean().optional(),
    overwrite: z.boolean().default(false),
  }),
  /** Moves the run's task to a status, past the gates of its pipeline (docs/task-gates.md). */
  'move-task': z.strictObject({ to: TaskStatusSchema }),
} as const

export type HandlerName = keyof typeof HANDLERS

/**
 * Handlers whose work leaves something in the run beside its outputs. A retried run that takes the outputs over needs
 * that as well: artifacts are taken along; the context is changed by the work itself, which is done again.
 */
export const HANDLERS_THAT_LEAVE: Readonly<Partial<Record<string, 'artifacts' | 'context'>>> = {
  'write-artifact': 'artifacts',
  'builtin:write-file': 'artifacts',
  'move-task': 'context',
} satisfies Partial<Record<HandlerName, 'artifacts' | 'context'>>
export type HandlerConfig<N extends HandlerName> = z.infer<(typeof HANDLERS)[N]>
