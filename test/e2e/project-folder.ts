import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { sluice } from './run-cli.ts'
import { type Done, runLine, type Where } from './run-line.ts'

const BIN = fileURLToPath(new URL('../../clients/cli/sluice.mjs', import.meta.url))

/** A new project with `sluice` on PATH, as a person has it. */
export interface ProjectFolder {
  readonly folder: string
  readonly path: string
  /**
   * A line as it is typed: in bash, but for one plain `sluice ..`, whose words need no shell and no start of Node, also
   * where it reads a file or writes one.
   */
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
    run: async (line, env = {}) => {
      const plain = plainLine(line)
      if (plain !== undefined) return await runPlain(plain, { cwd: folder, env: { PATH: path, ...env } })
      return await runLine(line, { cwd: folder, env: { PATH: path, SLUICE_URL: '', SLUICE_TOKEN: '', ...env } })
    },
    remove: () => rmSync(parent, { recursive: true }),
  }
}

interface PlainLine {
  readonly words: readonly string[]
  readonly from: string | undefined
  readonly to: string | undefined
}

async function runPlain({ words, from, to }: PlainLine, where: Where): Promise<Done> {
  const stdin = from === undefined ? '' : readFileSync(resolve(where.cwd, from), 'utf8')
  const done = await sluice(words, { ...where, stdin })
  if (to === undefined) return done
  writeFileSync(resolve(where.cwd, to), done.out)
  return { ...done, out: '' }
}

const PART = /"([^"$`\\]*)"|'([^']*)'|([\w./:=@,+%-]+)/g
const WORD = /(?:"[^"$`\\]*"|'[^']*'|[\w./:=@,+%-])+/g
const FILE = /[\w./-]+/.source
const PLAIN = new RegExp(`^sluice((?: +${WORD.source})*)(?: +< *(${FILE}))?(?: +> *(${FILE}))?$`)

/** Of a line that is one plain `sluice ..`; undefined where the shell has something to do. */
function plainLine(line: string): PlainLine | undefined {
  const found = PLAIN.exec(line)
  if (found === null) return undefined
  const [, typed = '', from, to] = found
  const words = [...typed.matchAll(WORD)].map(([word]) =>
    [...word.matchAll(PART)].map(([, a, b, c]) => a ?? b ?? c ?? '').join(''),
  )
  // That one hands its own stdin and stdout to a program.
  return words[0] === 'gates' && words[1] === 'check' ? undefined : { words, from, to }
}
