import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { type ConsoleFile, serveConsole } from '../../shared/console/serve-console.ts'
import { Refused } from './refused.ts'

/** The console of this package as answers, read once. Refused when it is not built. */
export async function openConsoleFiles(): Promise<ReturnType<typeof serveConsole>> {
  const dir = fileURLToPath(new URL('../../dist/console', import.meta.url))
  if (!existsSync(join(dir, 'index.html'))) {
    const detail = `The console is not built: there is no ${dir}. Run \`npm run build\` in the folder of Sluice.`
    throw new Refused({ code: 'console_not_built', detail })
  }
  return serveConsole(await readFolder(dir), ENCODINGS)
}

async function readFolder(dir: string): Promise<readonly ConsoleFile[]> {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  return await Promise.all(
    files.map(async (file) => ({
      path: `/${relative(dir, file).split(sep).join('/')}`,
      bytes: await readFile(file),
    })),
  )
}

const brotli = promisify(brotliCompress)
const gzipped = promisify(gzip)

/** As quick as the browser beside it needs: nothing goes over a wire. */
const ENCODINGS = {
  br: (bytes: Uint8Array) => brotli(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }),
  gzip: (bytes: Uint8Array) => gzipped(bytes),
}
