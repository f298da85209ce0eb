import { existsSync } from 'node:fs'
import { mkdir, rename, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { RUNNER } from '../../functions/steps/step-process.ts'
import { sha256 } from '../../shared/text/hash.ts'

/**
 * The program of a step's process in one file, as AWS has it: a process starts with it in less than half of the time that
 * its sources take. It is kept below `folder` by its hash.
 */
export async function bundleRunner(folder: string): Promise<URL> {
  const source = fileURLToPath(RUNNER)
  const { outputFiles } = await build({
    entryPoints: [source],
    // Not the working folder, which may be gone.
    absWorkingDir: dirname(source),
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node24',
    write: false,
    logLevel: 'silent',
  })
  const text = outputFiles.map((file) => file.text).join('')
  // By its name its frames are known, which are left out of what is told of an error.
  const own = join(folder, `runner-${sha256(text).slice(0, 16)}`)
  const file = join(own, 'run-step.mjs')
  if (!existsSync(file)) {
    await mkdir(own, { recursive: true })
    const unfinished = `${file}.${process.pid}.new`
    await writeFile(unfinished, text)
    await rename(unfinished, file)
  }
  return pathToFileURL(file)
}
