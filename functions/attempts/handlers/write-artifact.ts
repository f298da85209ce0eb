import { type BlockHandler, pickInput, readConfig } from './block-handler.ts'
import { storeArtifact } from './store-artifact.ts'

/**
 * Stores input `body` (or the one input) as artifact `name` of the run (store-artifact.ts). Every output takes the
 * object ref. The same name again replaces the artifact.
 */
export const writeArtifact: BlockHandler = {
  async run(call) {
    call.signal.throwIfAborted()
    const { name, media_type } = readConfig('write-artifact', call)
    const { ref } = await storeArtifact(call, { name, media_type, value: pickInput(call, 'write-artifact', 'body') })
    return Object.fromEntries(Object.keys(call.outputs).map((port) => [port, ref]))
  },
}
