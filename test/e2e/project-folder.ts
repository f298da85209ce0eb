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
  /** A line as it is typed: in bash, but for one plain `sluice ..`, whose words need no shell and no start of Node. */
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
    run: (line, env = {}) => {
      const words = wordsOf(line)
      if (words !== undefined) return sluice(words, { cwd: folder, env: { PATH: path, ...env } })
      return runLine(line, { cwd: folder, env: { PATH: path, SLUICE_URL: '', SLUICE_TOKEN: '', ...env } })
    },
    remove: () => rmSync(parent, { recursive: true }),
  }
}

const WORD = /"([^"$`\\]*)"|'([^']*)'|([\w./:=@,+%-]+)/

/** Of a line that is one plain `sluice ..`; undefined where the shell has something to do. */
function wordsOf(line: string): readonly string[] | undefined {
  const plain = new RegExp(`^sluice(?: +(?:${WORD.source}))*$`)
  if (!plain.test(line)) return undefined
  return [...line.slice('sluice'.length).matchAll(new RegExp(WORD, 'g'))].map(([, a, b, c]) => a ?? b ?? c ?? '')
}
