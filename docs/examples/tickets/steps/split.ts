import { defineStep } from 'sluice'
import * as z from 'zod'

/** Cuts the list into pieces, so that many are worked on at once. */
export default defineStep({
  inputs: z.object({ rows: z.array(z.record(z.string(), z.string())) }),
  outputs: z.object({ batches: z.array(z.array(z.record(z.string(), z.string()))) }),
  config: z.strictObject({ size: z.number().int().min(1).default(25) }),
  run({ inputs: { rows }, config: { size }, log, progress }) {
    const batches: (typeof rows)[] = []
    for (let at = 0; at < rows.length; at += size) {
      batches.push(rows.slice(at, at + size))
      progress(batches.length / Math.ceil(rows.length / size), `row ${at} of ${rows.length}`)
    }
    log.info(`${rows.length} rows in ${batches.length} batches`)
    return { batches }
  },
})
