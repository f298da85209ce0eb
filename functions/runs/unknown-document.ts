import { didYouMean, suggest } from '../../shared/dag/suggest.ts'
import { Fault } from '../../shared/errors.ts'

/** Says which name was probably meant, and all there are. */
export function unknownDocument(wanted: string, known: readonly string[], message: string): Fault {
  const near = didYouMean(suggest(wanted, known))
  const words = [message, ...(near === undefined ? [] : [near]), `There are: ${known.join(', ') || 'none'}.`]
  return new Fault('NotFound', 'unknown_dag', words.join(' '))
}
