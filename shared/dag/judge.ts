import { check } from './check.ts'
import type { Problem } from './report.ts'
import { pathText } from './source.ts'
import type { ReadDocument } from './yaml.ts'

type Known = Parameters<typeof check>[1]

/** Everything that is wrong with a document, whether or not all of it could be read. */
export function judge(read: ReadDocument, known: Known): ReturnType<typeof check> {
  if (read.ok) return check(read.source.value, known)
  return { problems: [...read.problems, ...besides(read, known)], warnings: [], programs: [] }
}

/**
 * What is wrong besides values JSON does not have: null stands in their place, and what is said of that place, or below
 * a limit or of a text nobody could read, is left out.
 */
function besides({ source, problems }: Extract<ReadDocument, { ok: false }>, known: Known): readonly Problem[] {
  if (source.value === undefined || problems.some(({ code }) => code !== 'not_json')) return []
  const told = new Set(problems.map(({ path }) => pathText(path)))
  return check(source.value, known).problems.filter(({ path }) => !told.has(pathText(path)))
}
