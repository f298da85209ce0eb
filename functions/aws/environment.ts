/** The environment of this function: the only place in functions/aws that touches it. */
export const environment: NodeJS.ProcessEnv = process.env
