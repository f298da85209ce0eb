import { existsSync, statSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join, relative, resolve, sep } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import {
  type ConsoleAnswer,
  type ConsoleFile,
  type ConsoleRequest,
  serveConsole,
} from '../../shared/console/serve-console.ts'
import { Fault } from '../../shared/errors.ts'

/** Where `npm run build` puts the console of this package. */
const BUILT: string = resolve(import.meta.dirname, '../../dist/console')

type Serve = (request: ConsoleRequest) => Promise<ConsoleAnswer | undefined>

/**
 * Serves the console out of a folder, from memory: files are read at the first request and again when a new build is
 * there (its index.html has another time), so that a server need not be started again for it.
 */
export function createConsole(dir: string = BUILT): Serve {
  let held: { readonly time: number; readonly serve: Promise<Serve> } | undefined
  return async (request) => {
    // Vite may be in the middle of writing: an API call must not wait for that, nor look at the folder.
    if (request.path.startsWith('/api/')) return undefined
    const time = timeOf(join(dir, 'index.html'))
    if (held?.time !== time) held = { time, serve: readFolder(dir).then((files) => serveConsole(files, ENCODINGS)) }
    try {
      return await (await held.serve)(request)
    } catch (error) {
      // A build that was exchanged while it was read is read again.
      if (!(error instanceof Fault)) held = undefined
      throw error
    }
  }
}

/** 0 where there is none. */
function timeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0
}

async function readFolder(dir: string): Promise<readonly ConsoleFile[]> {
  if (!existsSync(dir)) return []
  const entries = await readdir(dir, { recursive: true, withFileTypes: true })
  return await Promise.all(
    entries
      .filter((entry) => entry.isFile())
      .map(async (entry) => {
        const file = join(entry.parentPath, entry.name)
        return { path: `/${relative(dir, file).split(sep).join('/')}`, bytes: await readFile(file) }
      }),
  )
}

const brotli = promisify(brotliCompress)
const gzipped = promisify(gzip)

/** Done once a file and process: thorough, but short of what takes brotli a second. */
const ENCODINGS = {
  br: (bytes: Uint8Array) => brotli(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }),
  gzip: (bytes: Uint8Array) => gzipped(bytes, { level: 9 }),
}
