/**
 * Whether ErrorEquals names the error. States.ALL and States.TaskFailed are wildcards that leave out
 * States.DataLimitExceeded, the latter States.Timeout too. States.Runtime always ends the execution.
 * Source: Step Functions guide, "Handling errors".
 */
export function errorEquals(names: readonly string[], error: string): boolean {
  if (error === 'States.Runtime') return false
  if (names.includes(error)) return true
  if (error === 'States.DataLimitExceeded') return false
  return names.includes('States.ALL') || (error !== 'States.Timeout' && names.includes('States.TaskFailed'))
}
