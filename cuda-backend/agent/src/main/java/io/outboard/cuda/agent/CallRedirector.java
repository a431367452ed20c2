package io.outboard.cuda.agent;

import java.util.List;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ConstantDynamic;
import org.objectweb.asm.Handle;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/**
 * The visitor replaces the owner of static calls and of handles to static methods in one class. Types on the stack stay
 * the same, and so do its frames.
 */
final class CallRedirector extends ClassVisitor {

    private final List<Redirection> redirections;
    private int calls;

    CallRedirector(final ClassVisitor next, final List<Redirection> redirections) {
        super(Opcodes.ASM9, next);
        this.redirections = redirections;
    }

    /** Answers how many calls and handles were changed so far. */
    int calls() {
        return calls;
    }

    @Override
    public MethodVisitor visitMethod(
            final int access,
            final String name,
            final String descriptor,
            final String signature,
            final String[] exceptions) {
        return new MethodVisitor(api, super.visitMethod(access, name, descriptor, signature, exceptions)) {

            @Override
            public void visitMethodInsn(
                    final int opcode,
                    final String owner,
                    final String function,
                    final String functionDescriptor,
                    final boolean isInterface) {
                final String newOwner =
                        opcode == Opcodes.INVOKESTATIC ? ownerOf(owner, function, functionDescriptor) : owner;
                super.visitMethodInsn(opcode, newOwner, function, functionDescriptor, isInterface);
            }

            @Override
            public void visitInvokeDynamicInsn(
                    final String method,
                    final String methodDescriptor,
                    final Handle bootstrap,
                    final Object... arguments) {
                final Object[] changed = arguments.clone();
                for (int i = 0; i < changed.length; i++) {
                    changed[i] = redirect(changed[i]);
                }
                super.visitInvokeDynamicInsn(method, methodDescriptor, bootstrap, changed);
            }

            @Override
            public void visitLdcInsn(final Object constant) {
                super.visitLdcInsn(redirect(constant));
            }
        };
    }

    /** Answers a constant, or what stands for it. */
    private Object redirect(final Object constant) {
        if (constant instanceof Handle handle && handle.getTag() == Opcodes.H_INVOKESTATIC) {
            final String owner = ownerOf(handle.getOwner(), handle.getName(), handle.getDesc());
            return new Handle(handle.getTag(), owner, handle.getName(), handle.getDesc(), handle.isInterface());
        }
        if (constant instanceof ConstantDynamic dynamic) {
            final Object[] arguments = new Object[dynamic.getBootstrapMethodArgumentCount()];
            for (int i = 0; i < arguments.length; i++) {
                arguments[i] = redirect(dynamic.getBootstrapMethodArgument(i));
            }
            return new ConstantDynamic(
                    dynamic.getName(), dynamic.getDescriptor(), dynamic.getBootstrapMethod(), arguments);
        }
        return constant;
    }

    private String ownerOf(final String owner, final String function, final String descriptor) {
        for (final Redirection redirection : redirections) {
            if (redirection.sourceInternalName().equals(owner)
                    && redirection.functions().contains(function + descriptor)) {
                calls++;
                return redirection.targetInternalName();
            }
        }
        return owner;
    }
}
