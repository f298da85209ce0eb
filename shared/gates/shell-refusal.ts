import type { ShellGateSettings } from '../gate-settings.ts'
import { oneSentence } from './one-sentence.ts'

const FIX = 'to shell_gates.allow in sluice.yaml, and start again (on AWS: deploy again)'

/** Why this place does not run the command, and what an operator does about it; undefined = it may run. */
export function shellRefusal({ allow }: Pick<ShellGateSettings, 'allow'>, argv: readonly string[]): string | undefined {
  const shown = JSON.stringify(argv.slice(0, 3).map((word) => oneSentence(word, 30)))
  if (allow.length === 0) return `shell gates are off here; an operator who trusts it adds ${shown} ${FIX}`
  if (allow.some((prefix) => prefix.every((word, i) => word === argv[i]))) return undefined
  return `the operator's list has no beginning of ${shown}; an operator who trusts it adds it ${FIX}`
}
