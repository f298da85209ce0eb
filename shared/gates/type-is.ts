import { portType } from './port-type.ts'

/** `port_type` is its name in other systems. */
export const typeIs: typeof portType = { ...portType, type: 'type_is' }
