import * as z from 'zod'
import { RUN_DATA_ROUTES } from '../../shared/api/run-data-routes.ts'
import { callApi, type Target } from './api.ts'
import { plainText } from './plain-text.ts'
import { sizeWords } from './words.ts'

const OutputsSchema = z.looseObject({
  block_id: z.string(),
  outputs: RUN_DATA_ROUTES['get-outputs'].answer.shape.outputs,
  refs: z.record(z.string(), z.looseObject({ ref: z.string(), bytes: z.number() })),
})
export type BlockOutputs = z.infer<typeof OutputsSchema>

/** What a completed block published; Refused no_outputs or unknown_block says why there is nothing. */
export function fetchOutputs(target: Target, runId: string, blockId: string): Promise<BlockOutputs> {
  return callApi(target, OutputsSchema, (api) =>
    api.GET('/api/dag/runs/{run_id}/outputs/{block_id}', { params: { path: { run_id: runId, block_id: blockId } } }),
  )
}

/** Every value whole, below a line that names it. */
export function outputLines({ block_id, outputs, refs }: BlockOutputs): readonly string[] {
  const values = Object.entries(outputs).flatMap(([port, value]) => [`--- ${block_id}.${port}`, ...textLines(value)])
  const large = Object.entries(refs).map(
    ([port, { ref, bytes }]) => `--- ${block_id}.${port} is too large to show here (${sizeWords(bytes)}): ${ref}`,
  )
  return [...values, ...large].map(plainText)
}

/** A value as lines: text as it is, anything else as JSON. */
export function textLines(value: unknown): readonly string[] {
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2)
  return text.replace(/\n$/, '').split('\n')
}
