import { Fault } from '../../shared/errors.ts'
import type { Inputs } from '../../shared/world.ts'

/** The Inputs port on AWS: there is no folder, so every path is refused (docs/differences.md). */
export function openInputs(): Inputs {
  return {
    async read(_tenant, path) {
      const message = `Cannot read input "${path.slice(0, 200)}": on AWS there is no inputs folder, only object refs are read. Give the block an input "file" that holds a ref (objstore://tenant/sha256) instead of config "path".`
      throw new Fault('Rejected', 'inputs_not_here', message)
    },
  }
}
