import { existsSync } from 'node:fs'
import { basename, join, relative, resolve } from 'node:path'
import { parseDag } from '../../shared/dag/parse.ts'
import { parseSettings } from '../../shared/parse-settings.ts'
import { PLACE_PROVIDERS } from '../../shared/provider.ts'
import { jsonText } from './json-text.ts'
import { plainText } from './plain-text.ts'
import { readFile } from './read-file.ts'
import { Refused } from './refused.ts'
import type { Session } from './session.ts'
import { projectFiles } from './templates/project-files.ts'
import { writeNewFile } from './write-new-file.ts'

export interface InitOptions {
  readonly force?: true
  readonly json?: true
}

/** Writes a project and checks it; what is there already stays, unless it is to be written over. */
export function writeProject(session: Session, folder: string, { force: forced, json }: InitOptions): void {
  const force = forced === true
  const files = projectFiles(basename(resolve(folder)))
  const there = [...files.keys()].filter((path) => existsSync(join(folder, path)))
  if (there.length > 0 && !force) throw projectThere(folder, there)
  for (const [path, text] of files) writeNewFile(join(folder, path), text, force)
  checkWritten(folder)
  const written = [...files.keys()]
  if (json === true) session.say(jsonText({ folder, written, replaced: there }, 2))
  else sayWritten(session, folder, written, there)
}

function sayWritten(session: Session, folder: string, written: readonly string[], there: readonly string[]): void {
  const { command } = session.settings
  const go = relative(process.cwd(), resolve(folder))
  const lines = [
    `Wrote ${written.length} files in ${folder === '.' ? 'this folder' : folder}, and checked them:`,
    ...written.map((path) => `  ${path}${there.includes(path) ? '  (written over)' : ''}`),
    'Next:',
    ...(go === '' ? [] : [`  cd ${go}`]),
    `  ${command} run start    runs dags/hello.yaml right here, offline`,
    `  ${command} start        serves API and console on 127.0.0.1:4040`,
  ]
  for (const line of lines) session.say(plainText(line))
}

function projectThere(folder: string, there: readonly string[]): Refused {
  const where = folder === '.' ? 'this folder' : `"${folder}"`
  const detail = `Cannot write a project to ${where}: ${there.join(', ')} ${there.length === 1 ? 'is' : 'are'} there already. Name another folder, or say --force to write over exactly these. Nothing was written.`
  return new Refused({ code: 'file_there', detail })
}

/** A Fault or Refused names what a disk or another program made of it. */
function checkWritten(folder: string): void {
  const settings = join(folder, 'sluice.yaml')
  const { providers, prices, agents, shell_gates, approvals } = parseSettings(readFile(settings, 'settings'), settings)
  const dag = readFile(join(folder, 'dags', 'hello.yaml'), 'DAG file')
  const routing = { providers, prices, agents, shell_gates, approvals }
  const parsed = parseDag(dag, { name: 'hello', providers: [...PLACE_PROVIDERS, ...Object.keys(providers)], routing })
  if (parsed.ok) return
  const detail = 'The DAG that was written is not valid.'
  throw new Refused({ code: 'invalid_dag', detail, errors: parsed.errors })
}
