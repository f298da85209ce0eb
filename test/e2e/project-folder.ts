import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { sluice } from './run-cli.ts'
import { type Done, runLine } from './run-line.ts'

const BIN = fileURLToPath(new URL('../../clients/cli/sluice.mjs', import.meta.url))

/** A new project with `sluice` on PATH, as a person has it. */
export interface ProjectFolder {
  readonly folder: string
  readonly path: string
  /** A line as it is typed, in bash. */
  run(line: string, env?: Readonly<Record<string, string>>): Promise<Done>
  remove(): void
}

export async function projectFolder(): Promise<ProjectFolder> {
  const parent = mkdtempSync(join(tmpdir(), 'sluice-project-'))
  const bin = join(parent, 'bin')
  const folder = join(parent, 'project')
  mkdirSync(bin)
  writeFileSync(join(bin, 'sluice'), `#!/bin/sh\nexec "${process.execPath}" "${BIN}" "$@"\n`)
  chmodSync(join(bin, 'sluice'), 0o755)
  const made = await sluice(['init', folder])
  if (made.code !== 0) throw new Error(made.err)
  const path = `${bin}:${process.env.PATH ?? ''}`
  return {
    folder,
    path,
    run: (line, env = {}) =>
      runLine(line, { cwd: folder, env: { PATH: path, SLUICE_URL: '', SLUICE_TOKEN: '', ...env } }),
    remove: () => rmSync(parent, { recursive: true }),
  }
}
