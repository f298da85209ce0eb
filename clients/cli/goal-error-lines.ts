import type { ContractError } from '../../shared/goals/read-contract.ts'

/** `line:column  code  message`, a path where there is no line; what all messages begin with is left out. */
export function goalErrorLines(errors: readonly ContractError[]): readonly string[] {
  return errors.map(({ code, path, line, column, message }) => {
    const place = line === undefined ? path || '-' : `${line}:${column ?? 1}`
    return `  ${place}  ${code}  ${message.replace(/^Cannot use the goal contract: /, '')}`
  })
}
