import { basename } from 'node:path'
import { suggest } from '../../shared/dag/suggest.ts'
import { filesToCheck } from './check-files.ts'
import type { ChosenDocument } from './choose-document.ts'
import { exampleNames } from './example-names.ts'
import { usage } from './refused.ts'

/** A name that is surely mistyped, before a place is started and leaves its data folder behind. */
export function refuseUnknown(body: ChosenDocument['body']): void {
  if ('example' in body) {
    const known = exampleNames()
    if (!known.includes(body.example))
      throw usage(`There is no example "${body.example}". ${hint(body.example, known)}`)
  }
  if (!('name' in body) || 'dag' in body || body.name === undefined) return
  const known = filesToCheck().map((file) => basename(file).replace(/\.ya?ml$/, ''))
  const mayBe = known.length > 0 && suggest(body.name, known) === undefined
  // A document may call itself otherwise than its file: the place knows.
  if (mayBe || known.includes(body.name)) return
  const words =
    known.length === 0 ? 'There is no document in dags/ here; `sluice init` writes one.' : hint(body.name, known)
  throw usage(`There is no DAG "${body.name}". ${words}`)
}

function hint(given: string, known: readonly string[]): string {
  const near = suggest(given, known)
  return near === undefined ? `There are: ${known.join(', ')}.` : `Did you mean "${near}"?`
}
