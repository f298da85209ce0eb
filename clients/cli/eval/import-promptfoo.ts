import { dirname, join } from 'node:path'
import { dump } from 'js-yaml'
import { importPromptfoo, type NotMapped } from '../../../shared/evals/promptfoo.ts'
import { lineFinder } from '../../../shared/text/source-position.ts'
import { readYaml } from '../../../shared/text/yaml.ts'
import { readFile, readFileIfAny, writeNewFile } from '../terminal/files.ts'
import { count } from '../terminal/format.ts'
import { Refused, usageError } from '../terminal/refused.ts'
import type { Session } from '../terminal/session.ts'
import { jsonText, oneLine } from '../terminal/text.ts'

export interface ImportOptions {
  readonly name: string
  readonly force?: true
  readonly json?: true
}

/** `sluice eval import`: a document and an evaluation of it; what has no counterpart is named, and stands above the evaluation. */
export function importEval(session: Session, file: string, { name, force, json }: ImportOptions): void {
  if (!/^[a-z][a-z0-9-]{0,62}$/.test(name))
    throw usageError(`Cannot use --name "${name}": small letters, digits and - are needed.`)
  const source = readConfig(file)
  const beside = (path: string) => readFileIfAny(join(dirname(file), path), 'file of the configuration')
  const imported = importPromptfoo(source, name, beside)
  const { items, variants, providers, not_mapped } = imported
  const missed = not_mapped.map((one) => oneLine(missLine(file, one)))
  if (items === 0 || variants === 0) throw nothingThere(file, items === 0 ? 'tests' : 'prompts and providers', missed)
  const written = writeFiles(file, name, { imported, missed, force: force === true })
  const lines =
    json === true
      ? [jsonText({ written, items, variants, providers, not_mapped }, 2)]
      : [...missed, ...endLines(session, written, imported)]
  for (const line of lines) session.say(line)
  if (missed.length > 0) process.exitCode = 3
}

function nothingThere(file: string, of: string, missed: readonly string[]): Refused {
  const detail = `Cannot import ${file}: of its ${of} nothing could be taken over.\n${missed.join('\n')}`
  return new Refused({ code: 'nothing_to_import', detail })
}

type Imported = ReturnType<typeof importPromptfoo>

interface Written {
  readonly imported: Imported
  readonly missed: readonly string[]
  readonly force: boolean
}

function writeFiles(file: string, name: string, { imported, missed, force }: Written): readonly string[] {
  const head = `# From ${oneLine(file)}, by \`sluice eval import\`.\n`
  const left = missed.length === 0 ? '' : `# Not taken over:\n${missed.map((line) => `# ${line}\n`).join('')}`
  const files = [
    [`dags/${name}.yaml`, `${head}${yamlOf(imported.document)}`],
    [`evals/${name}.yaml`, `${head}${left}${yamlOf(imported.evaluation)}`],
  ] as const
  for (const [path, text] of files) writeNewFile(path, text, force)
  return files.map(([path]) => path)
}

function endLines(
  session: Session,
  written: readonly string[],
  { items, variants, providers, not_mapped }: Imported,
): readonly string[] {
  const rest =
    not_mapped.length === 0 ? 'All of it is taken over.' : `${count(not_mapped.length, 'thing')} not taken over.`
  return [
    `Wrote ${written.join(' and ')}: ${count(items, 'item')}, ${count(variants, 'variant')}. ${rest}`,
    `They ask the providers ${providers.join(', ')}: sluice.yaml must have them (docs/providers.md).`,
    `Then: ${session.settings.command} eval run ${written.at(-1)}`,
  ]
}

function readConfig(file: string) {
  const text = readFile(file, 'configuration')
  const read = readYaml(text)
  if (read.ok) return read.source
  const place = lineFinder(text)
  const lines = read.problems.map((problem) => {
    const { line, column } = place(problem.at ?? 0)
    const { text: what, hint = '' } = problem.say({
      who: 'the configuration',
      place: problem.path.join('.') || 'the configuration',
    })
    return `${file}:${line}:${column}: ${what}. ${hint}`.trimEnd()
  })
  throw new Refused(
    { code: 'bad_eval', detail: `Cannot import the configuration.\n${lines.join('\n')}` },
    { exitCode: 2 },
  )
}

function missLine(file: string, { line, column, what }: NotMapped): string {
  return `${file}${line === undefined ? '' : `:${line}:${column}`}: ${what}`
}

function yamlOf(value: object): string {
  return dump(value, { lineWidth: 110 })
}
