import { readFileSync, statfsSync } from 'node:fs'

const FOLDER = '/dev/shm'
/** What one run of all tests leaves there at once, many times over. */
const LEAST_BYTES = 4 * 1024 ** 3

/**
 * A folder in memory, where this machine has one that is large enough and starts programs; else undefined. A write that
 * is made sure of takes no time there. `npm run test:kill`, `test:load` and `test:races` use the disk.
 */
export function memoryFolder(): string | undefined {
  try {
    const { bavail, bsize } = statfsSync(FOLDER)
    const [, , , options = ''] = mountsOf(readFileSync('/proc/mounts', 'utf8')).find(([, at]) => at === FOLDER) ?? []
    return bavail * bsize >= LEAST_BYTES && /^rw\b/.test(options) && !/\bnoexec\b/.test(options) ? FOLDER : undefined
  } catch {
    // No such folder: another system, or a container without one.
    return undefined
  }
}

function mountsOf(table: string): readonly (readonly string[])[] {
  return table.split('\n').map((line) => line.split(' '))
}
