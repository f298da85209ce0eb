export function reasonToBuild(root: string): string | undefined
export function buildConsole(root: string): boolean
