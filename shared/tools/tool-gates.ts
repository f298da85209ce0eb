/** Gates that every call stands before, beside those its document gives the tool: their names are taken. */
export const TOOL_GATES = ['arguments', 'approval', 'untrusted', 'max_calls'] as const

export function isToolGate(name: string): boolean {
  return TOOL_GATES.some((gate) => gate === name)
}
