import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseDag } from '../../../shared/document/parse.ts'
import { suggest } from '../../../shared/text/wording.ts'
import { checkFile } from '../documents/document-files.ts'
import { exampleNames } from '../documents/examples.ts'
import { settingsOrDefaults } from '../documents/settings-file.ts'
import { readFileIfAny, writeNewFile } from '../terminal/files.ts'
import { Refused, usageError } from '../terminal/refused.ts'
import type { Session } from '../terminal/session.ts'
import { jsonText } from '../terminal/text.ts'
import { type DAG_MODES, newDagText } from './dag-template.ts'

export interface NewDagOptions {
  readonly blocks?: string
  readonly mode?: (typeof DAG_MODES)[number]
  readonly from?: string
  readonly force?: true
  readonly json?: true
}

/** `sluice new dag NAME`: writes it, and says whether it is valid here. */
export function writeDag(session: Session, name: string, options: NewDagOptions): void {
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/.test(name))
    throw usageError(`Cannot name a DAG "${name}": letters, digits, dots, dashes and underscores, not a path.`)
  const text = options.from === undefined ? newText(name, options) : copyOf(name, options.from)
  const parsed = parseDag(text, { name })
  // A copy may name providers and agents of the sluice.yaml it comes from: validate says so, the file is written.
  if (!parsed.ok && options.from === undefined)
    throw new Refused(
      { code: 'invalid_dag', detail: `Cannot write "${name}".`, errors: parsed.errors },
      { exitCode: 2 },
    )
  const file = join(settingsOrDefaults().dags[0] ?? 'dags', `${name}.yaml`)
  writeNewFile(file, text, options.force)
  const { valid, errors, order } = checkFile(file)
  if (options.json === true) {
    session.say(jsonText({ file, name, valid, blocks: order }, 2))
    return
  }
  const { command } = session.settings
  session.say(`Wrote ${file}${valid ? `: ${order.join(', ')}` : ''}`)
  for (const { message } of errors) session.say(`It needs a change here: ${message}`)
  session.say(`Run it: ${command} run start ${file}`)
}

function newText(name: string, { blocks = 'draft,publish', mode = 'ai' }: NewDagOptions): string {
  const ids = blocks.split(',').map((id) => id.trim())
  return newDagText(name, ids, mode)
}

/** The document under its new name; every other line as it is. */
function copyOf(name: string, example: string): string {
  const folder = fileURLToPath(new URL('../../../dags', import.meta.url))
  const text = readFileIfAny(join(folder, `${basename(example)}.yaml`), 'example')
  if (text === undefined) throw noExample(example)
  const schema = text.replace('$schema=../docs/dag.schema.json', '$schema=../schemas/dag.schema.json')
  return /^name: .*$/m.test(schema) ? schema.replace(/^name: .*$/m, () => `name: ${name}`) : schema
}

function noExample(example: string): Refused {
  const known = exampleNames()
  const near = suggest(example, known)
  const hint = near === undefined ? `There are: ${known.join(', ')}.` : `Did you mean "${near}"?`
  return usageError(`There is no example "${example}". ${hint}`)
}
