import type { Json } from '../canonical.ts'
import { isName, NAME_RULE } from './name.ts'
import type { Reading } from './reading.ts'
import type { Problem } from './report.ts'
import type { Path } from './source.ts'
import { shown } from './wording.ts'

/** The id of a block, when it has one that is allowed. */
export function readId({ problems }: Reading, id: Json | undefined, path: Path): string | undefined {
  if (typeof id === 'string' && isName(id)) return id
  if (id === undefined || id === null) {
    const say: Problem['say'] = ({ who }) => ({ text: `${who} has no id`, hint: 'Add id: NAME.' })
    problems.push({ code: 'missing_id', path, say })
  } else {
    const text = `has the id ${shown(id)}, which is not allowed; allowed are ${NAME_RULE}`
    problems.push({ code: 'illegal_id', path, say: () => ({ text: `${path[0]}[${path[1]}] ${text}` }) })
  }
  return undefined
}
