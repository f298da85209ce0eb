/**
 * Stands in bundles of functions for what the client of the protocol compiles schemas with, which is a third of it: we
 * compile none of a server's (connection.ts gives it a validator of its own).
 */
export const CORS_IS_POSSIBLE = false

export class DefaultJsonSchemaValidator {
  getValidator(): never {
    throw new TypeError('no schema of a server is compiled')
  }
}
