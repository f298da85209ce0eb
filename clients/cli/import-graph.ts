import { splitLines } from '../../shared/split-lines.ts'
import type { Target } from './api.ts'
import { type BadLine, type ImportBatch, importBatches, readLines } from './import-batches.ts'
import { readEntityStates } from './import-semstreams.ts'
import { patientCall } from './patient-call.ts'
import { Refused } from './refused.ts'
import { type SentItem, sendBatch } from './send-batch.ts'

/** A line that was not taken. */
export interface LineError {
  readonly line: number
  readonly id?: string
  readonly code: string
  readonly message: string
}

/** What became of a file. */
export interface Imported {
  /** Lines that were sent and answered, by outcome; a triple's is that of its subject. */
  readonly outcomes: Readonly<Record<string, number>>
  readonly refused: number
  /** At most MOST_ERRORS of them. */
  readonly errors: readonly LineError[]
  /** Where to go on, when the file was not read to its end. */
  readonly next_line?: number
  /** Why it was not. */
  readonly stopped?: Refused
}

/** Sluice's own, or the entity states of semstreams. */
export const IMPORT_FORMS = ['sluice', 'semstreams'] as const
export type ImportForm = (typeof IMPORT_FORMS)[number]

export interface ImportHow {
  /** From 1. */
  readonly from: number
  /** Whose form the file has. */
  readonly form?: ImportForm
  /** Between two calls: nothing is sent any more. */
  readonly signal?: AbortSignal
  /** After each call, and before each wait. */
  progress(so: {
    readonly line: number
    readonly done: number
    readonly refused: number
    readonly waits?: string
  }): void
}

const MOST_ERRORS = 1_000

/**
 * Puts a file into the graph, call by call in the order of its lines. Putting is idempotent: what was sent may be sent
 * again, so that an import that stopped goes on, or begins anew, without harm.
 */
export async function importGraph(target: Target, pieces: AsyncIterable<string>, how: ImportHow): Promise<Imported> {
  const so = { line: how.from - 1, done: 0, refused: 0 }
  const outcomes: Record<string, number> = {}
  const errors: LineError[] = []
  const refuse = (error: LineError) => {
    so.refused += 1
    if (errors.length < MOST_ERRORS) errors.push(error)
  }
  const take = (item: SentItem) => {
    if ('code' in item) return refuse(item)
    so.done += 1
    outcomes[item.outcome] = (outcomes[item.outcome] ?? 0) + 1
  }
  const lines = splitLines(pieces)
  const reads = how.form === 'semstreams' ? readEntityStates(lines, how.from) : readLines(lines, how.from)
  for await (const batch of importBatches(reads)) {
    const sent = await send(target, batch, { ...how, waits: (waits) => how.progress({ ...so, waits }) })
    if (sent instanceof Refused) return { outcomes, refused: so.refused, errors, next_line: so.line + 1, stopped: sent }
    for (const item of sent) take(item)
    so.line = lastLine(batch)
    how.progress(so)
  }
  return { outcomes, refused: so.refused, errors }
}

type SendHow = Pick<ImportHow, 'signal'> & { waits(why: string): void }

/** Refused: nobody answered, however long it was tried, or nobody may go on. */
async function send(
  target: Target,
  batch: ImportBatch | BadLine,
  { signal, waits }: SendHow,
): Promise<readonly SentItem[] | Refused> {
  if ('code' in batch) return [batch]
  if (signal?.aborted === true) return interrupted()
  const note = (why: string, ms: number) => waits(`${why}; goes on in ${Math.ceil(ms / 1_000)} s`)
  try {
    return await sendBatch(target, batch, (call) => patientCall(call, { note, ...(signal && { signal }) }))
  } catch (error) {
    if (error instanceof Refused) return error
    if (error instanceof Error && error.name === 'AbortError') return interrupted()
    throw error
  }
}

function interrupted(): Refused {
  return new Refused({ code: 'interrupted', detail: 'Stopped here.' })
}

function lastLine(batch: ImportBatch | BadLine): number {
  return 'code' in batch ? batch.line : (batch.items.at(-1)?.line ?? 0)
}
