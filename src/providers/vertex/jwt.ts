/** What signing a token takes. Loaded when it is first needed, without the rest of its package, which a bundle would hold
 *  as a whole if it were loaded by itself. */
export { importPKCS8, SignJWT } from 'jose'
