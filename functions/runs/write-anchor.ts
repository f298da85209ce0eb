import * as z from 'zod'
import { Fault } from '../../shared/errors.ts'
import { functionHandler } from '../handler.ts'

const name = z.string().regex(/^[\w-]{1,100}$/)

/**
 * Puts the end of a run's hash chain into the bucket of anchors, and can do nothing else: its role has s3:PutObject there
 * alone. Who calls it (send-outbox) works out what is anchored and cannot reach the bucket.
 */
export const handler = functionHandler({
  name: 'write-anchor',
  input: z.strictObject({
    format: z.literal('sluice-anchor/1'),
    tenant: name,
    run_id: name,
    seq: z.int().min(1),
    hash: z.string().regex(/^[0-9a-f]{64}$/),
    events: z.int().min(1),
    at: z.iso.datetime(),
  }),
  async run(anchor, { anchors }) {
    if (anchors === undefined) {
      const message = `Cannot anchor run "${anchor.run_id}": this place has no bucket of anchors. Set audit.anchor for a stage on AWS alone (docs/security.md).`
      throw new Fault('Bug', 'no_anchors', message)
    }
    await anchors.put(anchor)
    return { anchored: anchor.seq }
  },
})
